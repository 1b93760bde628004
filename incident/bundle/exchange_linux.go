package bundle

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// exchange makes two names in a folder change places, at once.
func exchange(dir *os.File, a, b string) error {
	fd := int(dir.Fd())
	err := unix.Renameat2(fd, a, fd, b, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) { // an old kernel, or a file system that cannot
		return errors.ErrUnsupported
	}
	return err
}
