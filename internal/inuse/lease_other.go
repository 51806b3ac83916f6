//go:build !linux

package inuse

// Guard would hold a file's lease; there are none on this system.
type Guard struct{}

// Hold cannot tell on this system who has a file open: it returns nothing, which may be used.
func Hold(path string) (*Guard, *Busy, error) { return nil, nil, nil }

// Broken says whether somebody has tried to open the file since Hold; here that is not known.
func (*Guard) Broken() bool { return false }

// Release does nothing here.
func (*Guard) Release() {}

// Opened says whether any process has a file open; here that is not known.
func Opened(string) (*Busy, error) { return nil, nil }

// Holder returns the id of a process that has the file open; here that is not known.
func Holder(string) int { return 0 }
