package preresume

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/inuse"
)

// Holder is the process that has a session open, for a caller that must tell an orphan of its own from a client in
// somebody's terminal. What is not known is empty.
type Holder struct {
	PID     int    `json:"pid,omitempty"`
	Command string `json:"command,omitempty"` // the program and its subcommand, without its other arguments
	Started string `json:"started,omitempty"`
	Lock    string `json:"lock,omitempty"` // the lock file that it holds
}

func holder(busy *inuse.Busy) *Holder {
	if busy == nil || busy.PID == 0 && busy.Lock == "" {
		return nil
	}
	h := &Holder{PID: busy.PID, Lock: busy.Lock}
	if busy.PID != 0 {
		h.Command, h.Started = commandOf(busy.PID), stamp(startOf(busy.PID))
	}
	return h
}

// commandOf returns what a process runs, from Linux's /proc; "" on other systems.
func commandOf(pid int) string {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	if err != nil || len(text) == 0 {
		return ""
	}
	args := strings.Split(string(text), "\x00")
	command := filepath.Base(args[0])
	for _, a := range args[1:] {
		if all.Subcommand(a) {
			return command + " " + a
		}
	}
	return command
}

// ticksPerSecond is the unit of times in /proc (USER_HZ), the same on every platform that Go runs on.
const ticksPerSecond = 100

// startOf returns when a process was started, from Linux's /proc; zero on other systems.
func startOf(pid int) time.Time {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return time.Time{}
	}
	system, err := os.ReadFile("/proc/stat")
	if err != nil {
		return time.Time{}
	}
	_, boot, found := bytes.Cut(system, []byte("\nbtime "))
	if !found {
		return time.Time{}
	}
	boot, _, _ = bytes.Cut(boot, []byte("\n"))
	// The second field is the program's name in brackets, which may contain anything; the start is the 20th field after it.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 20 {
		return time.Time{}
	}
	since, err := strconv.ParseInt(fields[19], 10, 64)
	begun, err2 := strconv.ParseInt(string(boot), 10, 64)
	if err != nil || err2 != nil {
		return time.Time{}
	}
	return time.Unix(begun+since/ticksPerSecond, 0)
}
