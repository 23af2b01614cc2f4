package realserver_test

import (
	"net"
	"net/url"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// waitUntilRefused returns when nothing listens at the configuration's host any more: each try holds a connection until
// the other side closes it, so there is nothing to sleep for.
func waitUntilRefused(t *testing.T, config *rest.Config) {
	t.Helper()
	address, err := url.Parse(config.Host)
	if err != nil || address.Host == "" {
		t.Fatalf("%q is no address: %v", config.Host, err)
	}
	deadline := time.Now().Add(10 * time.Second)
	for time.Now().Before(deadline) {
		conn, err := net.Dial("tcp", address.Host)
		if err != nil {
			return
		}
		_ = conn.SetReadDeadline(deadline)
		_, _ = conn.Read(make([]byte, 1))
		_ = conn.Close()
	}
	t.Errorf("the API server at %s outlived its process", address.Host)
}
