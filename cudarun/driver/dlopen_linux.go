//go:build !static

package driver

import (
	"fmt"

	"github.com/ebitengine/purego"
)

// OpenLibrary opens a shared library by the loader's name or a path.
func OpenLibrary(name string) (Library, error) {
	handle, err := purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return Library{}, fmt.Errorf("no NVIDIA driver: %w", err)
	}
	return Library{
		name:   name,
		Lookup: func(symbol string) (uintptr, error) { return purego.Dlsym(handle, symbol) },
		Invoke: invoke,
	}, nil
}

//go:uintptrescapes
func invoke(fn uintptr, args ...uintptr) uintptr {
	r, _, _ := purego.SyscallN(fn, args...)
	return r
}
