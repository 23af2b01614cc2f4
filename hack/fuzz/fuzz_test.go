// Package fuzz compares random pairs of statuses of kinds that other projects own. heavystatus is generated for them.
package fuzz

import (
	"flag"
	"testing"

	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statuspatcher/statuspatcher/hack/fuzz/heavystatus"
	"github.com/statuspatcher/statuspatcher/patcher"
	"github.com/statuspatcher/statuspatcher/patcher/test/statusfuzz"
)

var (
	fuzzPairs = flag.Int("fuzz.pairs", 2000, "how many random pairs of each kind TestS07_RandomPairs compares")
	fuzzSeed  = flag.Int64("fuzz.seed", 1, "the first seed of TestS07_RandomPairs")
)

var clusterKind = statusfuzz.Kind[*clusterv1.Cluster, clusterv1.ClusterStatus]{
	New:        func() *clusterv1.Cluster { return &clusterv1.Cluster{} },
	Status:     func(obj *clusterv1.Cluster) *clusterv1.ClusterStatus { return &obj.Status },
	Conditions: func(s *clusterv1.ClusterStatus) *[]metav1.Condition { return &s.Conditions },
	Patchers: func(c client.Client, opts ...patcher.Option) func(*clusterv1.Cluster) (statusfuzz.Patcher[clusterv1.ClusterStatus], error) {
		statuses := heavystatus.NewClusterStatusClient(c, patcher.NoLiveReader, opts...)
		return func(obj *clusterv1.Cluster) (statusfuzz.Patcher[clusterv1.ClusterStatus], error) {
			return statuses.For(obj)
		}
	},
}

var machineKind = statusfuzz.Kind[*clusterv1.Machine, clusterv1.MachineStatus]{
	New:        func() *clusterv1.Machine { return &clusterv1.Machine{} },
	Status:     func(obj *clusterv1.Machine) *clusterv1.MachineStatus { return &obj.Status },
	Conditions: func(s *clusterv1.MachineStatus) *[]metav1.Condition { return &s.Conditions },
	Patchers: func(c client.Client, opts ...patcher.Option) func(*clusterv1.Machine) (statusfuzz.Patcher[clusterv1.MachineStatus], error) {
		statuses := heavystatus.NewMachineStatusClient(c, patcher.NoLiveReader, opts...)
		return func(obj *clusterv1.Machine) (statusfuzz.Patcher[clusterv1.MachineStatus], error) {
			return statuses.For(obj)
		}
	},
}

var certificateKind = statusfuzz.Kind[*certmanagerv1.Certificate, certmanagerv1.CertificateStatus]{
	New:    func() *certmanagerv1.Certificate { return &certmanagerv1.Certificate{} },
	Status: func(obj *certmanagerv1.Certificate) *certmanagerv1.CertificateStatus { return &obj.Status },
	Patchers: func(c client.Client, opts ...patcher.Option) func(*certmanagerv1.Certificate) (statusfuzz.Patcher[certmanagerv1.CertificateStatus], error) {
		statuses := heavystatus.NewCertificateStatusClient(c, patcher.NoLiveReader, opts...)
		return func(obj *certmanagerv1.Certificate) (statusfuzz.Patcher[certmanagerv1.CertificateStatus], error) {
			return statuses.For(obj)
		}
	},
}

var certificateRequestKind = statusfuzz.Kind[*certmanagerv1.CertificateRequest, certmanagerv1.CertificateRequestStatus]{
	New: func() *certmanagerv1.CertificateRequest { return &certmanagerv1.CertificateRequest{} },
	Status: func(obj *certmanagerv1.CertificateRequest) *certmanagerv1.CertificateRequestStatus {
		return &obj.Status
	},
	Patchers: func(c client.Client, opts ...patcher.Option) func(*certmanagerv1.CertificateRequest) (statusfuzz.Patcher[certmanagerv1.CertificateRequestStatus], error) {
		statuses := heavystatus.NewCertificateRequestStatusClient(c, patcher.NoLiveReader, opts...)
		return func(obj *certmanagerv1.CertificateRequest) (statusfuzz.Patcher[certmanagerv1.CertificateRequestStatus], error) {
			return statuses.For(obj)
		}
	},
}

func FuzzCluster(f *testing.F)            { clusterKind.Fuzz(f) }
func FuzzMachine(f *testing.F)            { machineKind.Fuzz(f) }
func FuzzCertificate(f *testing.F)        { certificateKind.Fuzz(f) }
func FuzzCertificateRequest(f *testing.F) { certificateRequestKind.Fuzz(f) }

func TestS07_RandomPairs(t *testing.T) {
	statusfuzz.Run(t, *fuzzSeed, *fuzzPairs, map[string]statusfuzz.Random{
		"Cluster":            clusterKind.Random,
		"Machine":            machineKind.Random,
		"Certificate":        certificateKind.Random,
		"CertificateRequest": certificateRequestKind.Random,
	})
}
