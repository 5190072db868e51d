package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// WriteFile writes a file beside its final place and renames it. Devices and pipes,
// which cannot be replaced, are written directly.
func WriteFile(path string, fill func(io.Writer) error) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		return fill(f)
	}
	f, err := createBeside(path)
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails once it was renamed, as it should
	if err := fill(f); err != nil {
		f.Close()
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := f.Chmod(0o644); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

func dirOf(path string) string {
	if at := strings.LastIndexByte(path, os.PathSeparator); at >= 0 {
		return path[:at+1]
	}
	return "."
}

// Writable writes nothing where a file is to be, as WriteFile will write it.
func Writable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return fmt.Errorf("%s: is a folder", path)
	case err == nil && !info.Mode().IsRegular():
		return nil // a pipe, perhaps, that somebody reads
	}
	f, err := createBeside(path)
	if err != nil {
		return err
	}
	f.Close()
	return os.Remove(f.Name())
}

// createBeside makes a file in the folder of another.
func createBeside(path string) (*os.File, error) {
	f, err := os.CreateTemp(dirOf(path), ".aliascheck-*")
	if err != nil {
		var cause *fs.PathError
		if errors.As(err, &cause) { // of a name that nobody gave
			err = cause.Err
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}
