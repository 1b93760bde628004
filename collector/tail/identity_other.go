//go:build !unix

package tail

import "io/fs"

// identityOf returns what a file is. Here only its name tells: a file that was
// renamed is another one.
func identityOf(path string, _ fs.FileInfo) identity { return nameIdentity(path) }
