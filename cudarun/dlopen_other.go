//go:build !linux || static

package cudarun

import (
	"fmt"
	"runtime"
)

// openLibrary says that replays on a card are for Linux with glibc: a static build, for
// musl, loads no library.
func openLibrary(name string) (library, error) {
	return library{}, fmt.Errorf("no %s for this build (%s): kernels are replayed by the build for Linux with glibc", name, runtime.GOOS)
}
