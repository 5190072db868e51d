package hlo

import (
	"io"
	"io/fs"
	"os"
	"syscall"
)

// OpenRegular opens a regular file and tells its size in bytes. It never blocks: a pipe, a
// device or a socket that stands in a file's place is an error, a *fs.PathError like any
// other of it.
func OpenRegular(path string) (*os.File, int64, error) {
	f, size, err := openRegular(path)
	if err != nil {
		return nil, 0, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return f, size, nil
}

// openRegular opens a regular file and tells its size in bytes. A pipe that stands in
// a file's place must not block.
func openRegular(path string) (*os.File, int64, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, bare(err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errNotRegular
	}
	if err != nil {
		f.Close()
		return nil, 0, bare(err)
	}
	return f, info.Size(), nil
}

// plainFile is an open file as the system numbers it. A dump has thousands of small
// ones, and a quarter of the time of opening and closing one goes into an os.File, which
// asks whether the file can be waited for and is there to be collected.
type plainFile int

// openPlain is openRegular for a file that is read once, in one piece.
func openPlain(path string) (plainFile, int64, error) {
	fd, err := again(func() (int, error) {
		return syscall.Open(path, syscall.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	})
	if err != nil {
		return 0, 0, err
	}
	var info syscall.Stat_t
	_, err = again(func() (int, error) { return 0, syscall.Fstat(fd, &info) })
	if err == nil && info.Mode&syscall.S_IFMT != syscall.S_IFREG {
		err = errNotRegular
	}
	if err != nil {
		plainFile(fd).Close()
		return 0, 0, err
	}
	return plainFile(fd), info.Size, nil
}

// Read reads from where the last one ended.
func (f plainFile) Read(p []byte) (int, error) {
	n, err := again(func() (int, error) { return syscall.Read(int(f), p) })
	if err == nil && n == 0 && len(p) > 0 {
		err = io.EOF
	}
	return max(n, 0), err
}

// Close gives the number back; nothing was written that could be lost.
func (f plainFile) Close() { _ = syscall.Close(int(f)) }

// again repeats a system call that a signal interrupted.
func again(call func() (int, error)) (int, error) {
	for {
		if n, err := call(); err != syscall.EINTR {
			return n, err
		}
	}
}
