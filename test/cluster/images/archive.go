package images

import (
	"archive/tar"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// file is one file of an image.
type file struct {
	// name within the image, without the leading slash.
	name string
	mode int64
	// content, or the file on disk that has it; a link has neither.
	content []byte
	source  string
	link    string
}

// writeFiles adds files to an archive. The result does not depend on when and where it runs.
func writeFiles(w *tar.Writer, files []file) error {
	for i := range files {
		if err := writeFile(w, &files[i]); err != nil {
			return fmt.Errorf("adding %s: %w", files[i].name, err)
		}
	}
	return nil
}

func writeFile(w *tar.Writer, f *file) error {
	header := &tar.Header{Name: f.name, Mode: f.mode, Format: tar.FormatPAX, Typeflag: tar.TypeReg, Size: int64(len(f.content))}
	switch {
	case f.link != "":
		header.Typeflag, header.Linkname = tar.TypeSymlink, f.link
		return w.WriteHeader(header)
	case f.name[len(f.name)-1] == '/':
		header.Typeflag = tar.TypeDir
		return w.WriteHeader(header)
	case f.source == "":
		if err := w.WriteHeader(header); err != nil {
			return err
		}
		_, err := w.Write(f.content)
		return err
	}
	in, err := os.Open(f.source)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	header.Size = info.Size()
	if err := w.WriteHeader(header); err != nil {
		return err
	}
	_, err = io.Copy(w, in)
	return err
}

// writeTree adds a complete root file system to an archive, with owners and modes, except what skip selects and devices.
func writeTree(w *tar.Writer, root string, skip func(name string) bool) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil || name == "." {
			return err
		}
		if skip(name) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return writeEntry(w, path, name, info)
	})
}

func writeEntry(w *tar.Writer, path, name string, info fs.FileInfo) error {
	var link string
	var err error
	if info.Mode()&fs.ModeSymlink != 0 {
		if link, err = os.Readlink(path); err != nil {
			return err
		}
	}
	if !info.Mode().IsRegular() && !info.IsDir() && link == "" {
		return nil // devices, sockets: the container gets its own
	}
	header, err := tar.FileInfoHeader(info, link)
	if err != nil {
		return err
	}
	header.Name, header.Format, header.Uname, header.Gname = name, tar.FormatPAX, "", ""
	header.AccessTime, header.ChangeTime, header.ModTime = epoch, epoch, epoch
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		header.Uid, header.Gid = int(s.Uid), int(s.Gid)
	}
	if info.IsDir() {
		header.Name += "/"
	}
	if err := w.WriteHeader(header); err != nil || !info.Mode().IsRegular() {
		return err
	}
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	_, err = io.Copy(w, in)
	return err
}
