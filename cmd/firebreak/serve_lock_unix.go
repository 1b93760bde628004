//go:build unix && !solaris && !aix && !illumos

package main

import (
	"errors"
	"os"
	"syscall"
)

// lockFolder holds a folder until what it returns is closed or the process ends.
func lockFolder(name string) (*os.File, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, errLocked
		}
		return nil, err
	}
	return f, nil
}
