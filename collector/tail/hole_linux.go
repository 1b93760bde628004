package tail

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// dataAt returns where the hole ends that a file begins with; 0 if there is none.
func dataAt(fd *os.File) int64 {
	const seekData = 3
	at, err := fd.Seek(0, seekData)
	if errors.Is(err, syscall.ENXIO) { // nothing but a hole
		at, err = fd.Seek(0, io.SeekEnd)
	}
	if err != nil {
		return 0
	}
	return at
}
