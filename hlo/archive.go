package hlo

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
)

// memberSeparator stands between an archive and its member in a Source's path.
const memberSeparator = "!/"

// visit is called with each file of an archive, in the archive's order; what it does not
// read is passed over. A link or a device has no reader.
type visit func(name string, in io.Reader) error

// archive yields the modules of an archive: its members are listed first, then those
// are read that are wanted.
func (f *finder) archive(path string) {
	walk, err := f.opener(path)
	if err != nil {
		f.fail(path, err)
		return
	}
	if walk == nil {
		return
	}
	c := &catalog{folders: map[string][]file{}, seen: map[string]bool{}}
	c.twice = func(name string) { f.fail(path+memberSeparator+name, errTwice) }
	if err := walk(c.list); err != nil {
		// What was listed before is audited, and this says that it is not all.
		f.fail(path, err)
	}
	x := extractor{finder: f, archive: path, wanted: f.wanted(path, c)}
	if err := walk(x.extract); err != nil && !errors.Is(err, errStop) && x.left() > 0 {
		f.fail(path, err)
	}
}

// errStop ends a walk whose rest nobody wants.
const errStop = readError("stopped")

// opener returns what walks an archive's members, by what kind of archive it is; nil
// where it is none: a compressed file.
func (f *finder) opener(path string) (func(visit) error, error) {
	head, err := readHead(path)
	if err != nil {
		return nil, err
	}
	if !isGzip(head) {
		if isTar(head) {
			return func(v visit) error { return f.walkTar(path, v) }, nil
		}
		return func(v visit) error { return f.walkZip(path, v) }, nil
	}
	inner, err := gunzipHead(path)
	switch {
	case err != nil:
		return nil, err
	case isTar(inner):
		return func(v visit) error { return f.walkTar(path, v) }, nil
	case looksLikeProto(inner):
		f.give(Source{Path: path})
	}
	return nil, nil
}

// isTar tells a tar archive by the magic of its first header.
func isTar(head []byte) bool { return len(head) >= 262 && string(head[257:262]) == "ustar" }

// gunzipHead is the first bytes of what a compressed file inflates to.
func gunzipHead(path string) ([]byte, error) {
	in, _, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	z, err := gzip.NewReader(in)
	if err != nil {
		return nil, err
	}
	head := make([]byte, sniffBytes)
	n, err := io.ReadFull(z, head)
	if err == io.ErrUnexpectedEOF && n > 0 {
		err = nil
	}
	return head[:n], err
}

// walkTar visits the files of a tar archive, compressed or not.
func (f *finder) walkTar(path string, v visit) error {
	in, _, err := openRegular(path)
	if err != nil {
		return err
	}
	defer in.Close()
	buffered := bufio.NewReaderSize(in, chunk)
	var stream io.Reader = buffered
	if magic, err := buffered.Peek(2); err == nil && isGzip(magic) {
		if stream, err = gzip.NewReader(buffered); err != nil {
			return err
		}
	}
	stream = &bounded{in: stream, left: f.limits.ArchiveBytes}
	t := tar.NewReader(stream)
	for n := 0; ; n++ {
		header, err := t.Next()
		switch {
		case err == io.EOF:
			return onlyZeros(stream)
		case err != nil:
			return err
		case n == f.limits.ArchiveMembers:
			return fmt.Errorf("more than %d members", n)
		}
		switch header.Typeflag {
		case tar.TypeReg, tar.TypeGNUSparse:
			err = v(header.Name, t)
		case tar.TypeLink, tar.TypeSymlink, tar.TypeChar, tar.TypeBlock, tar.TypeFifo:
			err = v(header.Name, nil)
		}
		if err != nil {
			return err
		}
	}
}

// onlyZeros reads what follows the end of a tar archive. That is not the end of the
// compressed file, which may be cut off behind it, and what tar ignores there, a second
// archive perhaps, would be seen by nobody.
func onlyZeros(in io.Reader) error {
	buf := make([]byte, chunk)
	for {
		n, err := in.Read(buf)
		for _, b := range buf[:n] {
			if b != 0 {
				return errBehind
			}
		}
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}

// walkZip visits the files of a zip archive.
func (f *finder) walkZip(path string, v visit) error {
	in, size, err := openRegular(path)
	if err != nil {
		return err
	}
	defer in.Close()
	// A member takes some 100 bytes in the directory; reading it takes memory.
	directory := &boundedAt{in: in, left: 128 * int64(f.limits.ArchiveMembers)}
	z, err := zip.NewReader(directory, size)
	if err != nil {
		return err
	}
	directory.free = true
	if len(z.File) > f.limits.ArchiveMembers {
		return fmt.Errorf("more than %d members", f.limits.ArchiveMembers)
	}
	left := f.limits.ArchiveBytes
	for _, member := range z.File {
		switch mode := member.Mode(); {
		case mode.IsDir():
		case mode.IsRegular():
			left, err = visitZipped(member, v, left)
		default:
			err = v(member.Name, nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// visitZipped visits one member, which may inflate to left bytes, and returns what is
// then left for the others.
func visitZipped(member *zip.File, v visit, left int64) (int64, error) {
	in, err := member.Open()
	if err != nil {
		return left, fmt.Errorf("%s: %w", member.Name, err)
	}
	defer in.Close()
	content := &bounded{in: in, left: left}
	err = v(member.Name, content)
	return content.left, err
}

// boundedAt is a ReaderAt that fails when more than left bytes were read, until free.
type boundedAt struct {
	in   *os.File
	left int64
	free bool
}

// ReadAt reads from in.
func (r *boundedAt) ReadAt(p []byte, offset int64) (int, error) {
	if r.left -= int64(len(p)); r.left < 0 && !r.free {
		return 0, errMembers
	}
	return r.in.ReadAt(p, offset)
}

// catalog is what an archive holds, by folder.
type catalog struct {
	order   []string // of the folders
	folders map[string][]file
	seen    map[string]bool
	twice   func(name string) // says of a name that it stands twice
}

// list adds a member to the catalog. A link (no reader) counts by its name. What would be
// unpacked is the last member of a name, and what is audited the first: two are an error.
func (c *catalog) list(name string, in io.Reader) error {
	place := path.Clean("/" + name) // ./a and a are unpacked to one place
	if c.seen[place] {
		c.twice(name)
		return nil
	}
	c.seen[place] = true
	folder, base := path.Split(name)
	f := classify(base)
	if f.kind == unknown && in != nil {
		head := make([]byte, sniffBytes)
		n, err := io.ReadFull(in, head)
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return fmt.Errorf("%s: %w", name, err)
		}
		f.sniff(head[:n])
	}
	if _, known := c.folders[folder]; !known {
		c.order = append(c.order, folder)
	}
	c.folders[folder] = append(c.folders[folder], f)
	return nil
}
