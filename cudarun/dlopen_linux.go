//go:build !static

package cudarun

import (
	"fmt"

	"github.com/ebitengine/purego"
)

// openLibrary opens a shared library by the loader's name or a path.
func openLibrary(name string) (library, error) {
	handle, err := purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return library{}, fmt.Errorf("no NVIDIA driver: %w", err)
	}
	return library{
		name:   name,
		lookup: func(symbol string) (uintptr, error) { return purego.Dlsym(handle, symbol) },
		invoke: invoke,
	}, nil
}

//go:uintptrescapes
func invoke(fn uintptr, args ...uintptr) uintptr {
	r, _, _ := purego.SyscallN(fn, args...)
	return r
}
