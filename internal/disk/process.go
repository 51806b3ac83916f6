package disk

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// ticksPerSecond is the unit of times in /proc (USER_HZ), the same on every platform that Go runs on.
const ticksPerSecond = 100

// ProcessStarted says when a process was started: ticks since the machine was booted, as a client may have noted it, and the time that
// this is. It is known from Linux's /proc; on other systems ok is false.
func ProcessStarted(pid int) (ticks int64, at time.Time, ok bool) {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0, time.Time{}, false
	}
	// The second field is the program's name in brackets, which may contain anything; the start is the 20th field after it.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 20 {
		return 0, time.Time{}, false
	}
	if ticks, err = strconv.ParseInt(fields[19], 10, 64); err != nil {
		return 0, time.Time{}, false
	}
	system, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, time.Time{}, false
	}
	_, boot, _ := bytes.Cut(system, []byte("\nbtime "))
	boot, _, _ = bytes.Cut(boot, []byte("\n"))
	begun, err := strconv.ParseInt(string(boot), 10, 64)
	return ticks, time.Unix(begun+ticks/ticksPerSecond, 0), err == nil
}

// ProcessArgs are a process's program and arguments, from Linux's /proc; nil on other systems.
func ProcessArgs(pid int) []string {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	if err != nil || len(text) == 0 {
		return nil
	}
	return strings.Split(strings.TrimRight(string(text), "\x00"), "\x00")
}
