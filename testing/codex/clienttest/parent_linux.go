package clienttest

import "syscall"

// dieWithParent has the kernel kill a client when we die: a test that is ended by its own time limit ends nothing.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
