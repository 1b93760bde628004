//go:build !unix

package collector

import "errors"

func mkfifo(string) error { return errors.ErrUnsupported }
