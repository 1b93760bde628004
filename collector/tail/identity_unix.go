//go:build unix

package tail

import (
	"io/fs"
	"syscall"
)

// identityOf returns what a file is, whatever it is called.
func identityOf(path string, info fs.FileInfo) identity {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return identity{uint64(st.Dev), uint64(st.Ino)} //nolint:unconvert // their types differ between systems
	}
	return nameIdentity(path)
}
