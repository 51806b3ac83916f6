//go:build !unix

package clienttest

import (
	"os"
	"os/exec"
)

func setGroup(*exec.Cmd) {}

func killGroup(int) {}

func killTree(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
	}
}
