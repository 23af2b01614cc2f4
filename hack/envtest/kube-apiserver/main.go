// kube-apiserver is the API server of k8s.io/kubernetes as it is, without the metrics and log formats that tests never read.
package main

import (
	"os"
	_ "time/tzdata" // CronJobs name time zones, and a test machine may have no zone files.

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() {
	os.Exit(cli.Run(app.NewAPIServerCommand()))
}
