//go:build !linux

package main

import (
	"os"
	"testing"
)

func heedPermissions(t *testing.T) {
	t.Helper()
	if os.Geteuid() == 0 {
		t.Fatal("root may write everywhere: run this test as another user")
	}
}
