package main

import (
	"os"
	"testing"
)

// TestMain keeps a workspace of this repository out of the modules that the tests make, and is the command itself where a test
// starts it in a process of its own.
func TestMain(m *testing.M) {
	if os.Getenv("STATUSPATCHER_GEN_RUN") != "" {
		main()
	}
	if err := os.Setenv("GOWORK", "off"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
