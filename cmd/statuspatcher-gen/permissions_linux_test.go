package main

import (
	"os"
	"runtime"
	"syscall"
	"testing"
	"unsafe"
)

// capabilities are those of one thread, as capget(2) and capset(2) have them in their version 3.
type capabilities struct {
	version uint32
	pid     int32
	sets    [2]struct{ effective, permitted, inheritable uint32 }
}

const dacOverride = 1 << 1 // CAP_DAC_OVERRIDE of capabilities(7)

// heedPermissions takes from root, until the test ends, the right to write where permissions forbid it. It goes for the
// goroutine of the test, which is the one that writes files.
func heedPermissions(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	c := capabilities{version: 0x20080522}
	c.call(t, syscall.SYS_CAPGET)
	had := c
	t.Cleanup(func() { had.call(t, syscall.SYS_CAPSET) })
	c.sets[0].effective &^= dacOverride
	c.call(t, syscall.SYS_CAPSET)
}

func (c *capabilities) call(t *testing.T, number uintptr) {
	t.Helper()
	if _, _, errno := syscall.RawSyscall(number, uintptr(unsafe.Pointer(c)), uintptr(unsafe.Pointer(&c.sets)), 0); errno != 0 {
		t.Fatal(errno)
	}
}
