package process

import "syscall"

// dieWithParent has the kernel end the worker when the thread that started it ends.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
