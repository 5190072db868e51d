//go:build unix && !linux

package process

import "syscall"

// dieWithParent does nothing where the kernel has no such thing: the worker ends with
// its standard input.
func dieWithParent(*syscall.SysProcAttr) {}
