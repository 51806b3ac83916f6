//go:build !linux

package disk

// Guard would hold a lease on a file; this system has none.
type Guard struct{}

// Hold can't find out on this system who has a file open. It returns a nil Guard, which may be used.
func Hold(path string) (*Guard, *Busy, error) { return nil, nil, nil }

// Broken is always false: on this system it is not known whether somebody has tried to open the file.
func (*Guard) Broken() bool { return false }

// Release does nothing here.
func (*Guard) Release() {}

// Written is always nil: on this system it is not known whether a process has a file open to write to it.
func Written(string) (*Busy, error) { return nil, nil }

// Holder is always 0: on this system it is not known which process has a file open.
func Holder(string) int { return 0 }
