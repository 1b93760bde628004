package bundle

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// disk is what a store asks of the file system, below its folder. Tests have one
// that fails.
type disk interface {
	Mkdir(name string) error
	Create(name string) (file, error)
	Rename(from, to string) error
	// Exchange makes two names change places; errors.ErrUnsupported if they cannot.
	Exchange(a, b string) error
	RemoveAll(name string) error
	SyncDir(name string) error

	Lstat(name string) (fs.FileInfo, error)
	ReadDir(name string) ([]fs.DirEntry, error)
	Open(name string) (io.ReadCloser, error)
}

// file is a file that is being written.
type file interface {
	io.WriteCloser
	Sync() error
}

// rootDisk is a folder. No name leads out of it.
type rootDisk struct{ root *os.Root }

func (d rootDisk) Mkdir(name string) error { return d.root.Mkdir(name, 0o700) }

func (d rootDisk) Create(name string) (file, error) {
	return d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

func (d rootDisk) Rename(from, to string) error { return d.root.Rename(from, to) }

func (d rootDisk) Exchange(a, b string) error {
	dir, err := d.root.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(exchange(dir, a, b), dir.Close())
}

func (d rootDisk) RemoveAll(name string) error { return d.root.RemoveAll(name) }

func (d rootDisk) SyncDir(name string) error {
	dir, err := d.root.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

func (d rootDisk) Lstat(name string) (fs.FileInfo, error) { return d.root.Lstat(name) }

func (d rootDisk) ReadDir(name string) ([]fs.DirEntry, error) {
	dir, err := d.root.Open(name)
	if err != nil {
		return nil, err
	}
	list, err := dir.ReadDir(-1)
	return list, errors.Join(err, dir.Close())
}

func (d rootDisk) Open(name string) (io.ReadCloser, error) {
	info, err := d.root.Lstat(name)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("not a regular file")}
	}
	return d.root.Open(name)
}
