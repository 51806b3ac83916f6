//go:build unix

package clienttest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// setGroup gives the client a process group of its own.
func setGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithParent(cmd.SysProcAttr)
}

// killGroup kills what is left of the client's process group.
func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }

// killTree kills the client first, so that it can write nothing more, and then
// the tools it started: those have sessions of their own and would live on.
func killTree(pid int) {
	children := descendants(pid)
	_ = syscall.Kill(pid, syscall.SIGKILL)
	killGroup(pid)
	for _, c := range children {
		_ = syscall.Kill(c, syscall.SIGKILL)
	}
}

// descendants finds them in /proc; where there is none it finds nothing.
func descendants(pid int) []int {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil
	}
	children := map[int][]int{}
	for _, path := range stats {
		data, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		// pid (name) state ppid …, and the name may hold anything
		child, errPid := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		fields := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
		if errPid != nil || len(fields) < 2 {
			continue
		}
		if parent, err := strconv.Atoi(fields[1]); err == nil {
			children[parent] = append(children[parent], child)
		}
	}
	var all []int
	for next := children[pid]; len(next) > 0; {
		c := next[0]
		all, next = append(all, c), append(next[1:], children[c]...)
	}
	return all
}
