//go:build !linux

package cudarun

import (
	"fmt"
	"runtime"
)

// openLibrary says that replays on a card are for Linux.
func openLibrary(name string) (library, error) {
	return library{}, fmt.Errorf("no %s on %s: kernels are replayed on Linux only", name, runtime.GOOS)
}
