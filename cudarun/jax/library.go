package jax

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed" // for the patches
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// The patches, compiled for each architecture by trace/build.sh.
//
//go:embed trace/patches.fatbin.gz
var patches []byte

const libraryName = "libsanitizer-public.so"

// FindLibrary finds the Sanitizer's library: in the directory that is given, in the
// Python's own packages (nvidia-cuda-sanitizer-api), in a CUDA toolkit.
func FindLibrary(dir, python string) (string, error) {
	var places []string
	if dir != "" {
		places = []string{dir, filepath.Join(dir, "compute-sanitizer")}
	} else {
		places = append(packages(python), toolkits()...)
	}
	for _, p := range places {
		path := filepath.Join(p, libraryName)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, nil
		}
	}
	if dir != "" {
		return "", fmt.Errorf("%s is not in %s", libraryName, dir)
	}
	return "", errors.New("NVIDIA's " + libraryName + " was not found: pip install nvidia-cuda-sanitizer-api, or give --sanitizer-dir")
}

// packages are the folders of the Python's nvidia packages that may hold it.
func packages(python string) []string {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, python, "-c",
		"import glob,os,site,sys\nfor d in sys.path+site.getsitepackages():\n  for p in glob.glob(os.path.join(d,'nvidia','*','compute-sanitizer')): print(p)").Output()
	if err != nil {
		return nil
	}
	return strings.Fields(string(out))
}

// toolkits are the folders of CUDA toolkits, the newest first.
func toolkits() []string {
	roots := []string{os.Getenv("CUDA_HOME"), os.Getenv("CUDA_PATH"), "/usr/local/cuda"}
	found, _ := filepath.Glob("/usr/local/cuda-*") // the pattern is good
	var out []string
	for _, root := range append(roots, found...) {
		if root != "" {
			out = append(out, filepath.Join(root, "compute-sanitizer"))
		}
	}
	return out
}

// patches writes the patches beside the scripts.
func (s *Session) patches() (string, error) {
	if err := s.unpack(); err != nil {
		return "", err
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(patches))
	if err != nil {
		return "", err
	}
	data, err := io.ReadAll(unzipped)
	if err != nil {
		return "", err
	}
	path := filepath.Join(s.dir, "patches.fatbin")
	return path, os.WriteFile(path, data, 0o600)
}
