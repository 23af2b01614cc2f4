//go:build linux || darwin

package kubebuilderproject

import (
	"os"
	"syscall"
)

// lock waits until no other process has the lock of that name.
func lock(name string) (unlock func(), err error) {
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		_ = file.Close()
		return nil, err
	}
	return func() { _ = file.Close() }, nil // which gives the lock up
}
