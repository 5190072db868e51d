//go:build !linux && !freebsd

package cudarun

import (
	"fmt"
	"runtime"
)

// openLibrary says that replays on a card are for Linux and FreeBSD.
func openLibrary(name string) (library, error) {
	return library{}, fmt.Errorf("no %s on %s: kernels are replayed on Linux and FreeBSD only", name, runtime.GOOS)
}
