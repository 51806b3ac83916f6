package preresume

import (
	"path/filepath"

	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/disk"
)

// Holder is the process that has a session open, for a caller that must tell an orphan of its own from a client in
// somebody's terminal. What is not known is empty.
type Holder struct {
	PID     int    `json:"pid,omitempty"`
	Command string `json:"command,omitempty"` // the program and its subcommand, without its other arguments
	Started string `json:"started,omitempty"`
	Lock    string `json:"lock,omitempty"` // the lock file that it holds
}

func holder(busy *disk.Busy) *Holder {
	if busy == nil || busy.PID == 0 && busy.Lock == "" {
		return nil
	}
	h := &Holder{PID: busy.PID, Lock: busy.Lock}
	if busy.PID != 0 {
		_, begun, _ := disk.ProcessStarted(busy.PID)
		h.Command, h.Started = commandOf(busy.PID), stamp(begun)
	}
	return h
}

// commandOf returns what a process runs; "" if that is not known.
func commandOf(pid int) string {
	args := disk.ProcessArgs(pid)
	if args == nil {
		return ""
	}
	command := filepath.Base(args[0])
	for _, a := range args[1:] {
		if all.Subcommand(a) {
			return command + " " + a
		}
	}
	return command
}
