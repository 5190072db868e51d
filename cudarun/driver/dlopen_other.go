//go:build !linux || static

package driver

import (
	"fmt"
	"runtime"
)

// OpenLibrary says that replays on a card are for Linux with glibc: a static build, for
// musl, loads no Library.
func OpenLibrary(name string) (Library, error) {
	return Library{}, fmt.Errorf("no %s for this build (%s): kernels are replayed by the build for Linux with glibc", name, runtime.GOOS)
}
