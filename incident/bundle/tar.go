package bundle

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"

	"github.com/firebreak-io/firebreak/incident"
)

// Opened is a bundle whose files are open: it stays as it is while it is read,
// whatever takes its place.
type Opened struct {
	Manifest Manifest
	files    []openFile
}

type openFile struct {
	path string
	size int64
	r    io.ReadCloser
}

// maxOpenFiles bounds the files of one bundle that are opened at once.
const maxOpenFiles = 1000

// Open opens a bundle; ErrNone if there is none of that ID.
func (s *Store) Open(id string) (*Opened, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	m, err := s.manifest(id)
	if err != nil {
		return nil, err
	}
	if len(m.Files) > maxOpenFiles {
		return nil, fmt.Errorf("%s: %d files", id, len(m.Files))
	}
	o := &Opened{Manifest: m}
	for _, f := range m.Files {
		r, err := s.disk.Open(id + "/" + f.Path)
		if err != nil {
			return nil, errors.Join(err, o.Close())
		}
		o.files = append(o.files, openFile{f.Path, f.Bytes, r})
	}
	return o, nil
}

// Close closes the files.
func (o *Opened) Close() error {
	var errs []error
	for _, f := range o.files {
		errs = append(errs, f.r.Close())
	}
	o.files = nil
	return errors.Join(errs...)
}

// Report reads the report. It may be called once.
func (o *Opened) Report() (*incident.Report, error) {
	for _, f := range o.files {
		if f.path == ReportName {
			return incident.ReadJSON(io.LimitReader(f.r, f.size))
		}
	}
	return nil, ErrNone
}

// WriteTar writes the bundle as a tar that is compressed with gzip, in a folder
// of its name, the manifest first. It may be called once, and not after Report.
func (o *Opened) WriteTar(w io.Writer) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestSpeed) // the most of it is compressed already
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	var manifest bytes.Buffer
	if err := manifestOf(&o.Manifest)(&manifest); err != nil {
		return err
	}
	head := func(name string, size int64) error {
		return t.WriteHeader(&tar.Header{
			Typeflag: tar.TypeReg, Name: o.Manifest.ID + "/" + name, Size: size, Mode: 0o600, ModTime: o.Manifest.Updated, Format: tar.FormatPAX,
		})
	}
	if err := head(ManifestName, int64(manifest.Len())); err != nil {
		return err
	}
	if _, err := t.Write(manifest.Bytes()); err != nil {
		return err
	}
	for _, f := range o.files {
		if err := head(f.path, f.size); err != nil {
			return err
		}
		if _, err := io.CopyN(t, f.r, f.size); err != nil {
			return fmt.Errorf("%s: %w", f.path, err)
		}
	}
	return errors.Join(t.Close(), z.Close())
}
