//go:build !linux

package bundle

import (
	"errors"
	"os"
)

// exchange makes two names in a folder change places, at once.
func exchange(*os.File, string, string) error { return errors.ErrUnsupported }
