package source

import "syscall"

// changeTime is when anything about a file changed, in nanoseconds since 1970.
func changeTime(st *syscall.Stat_t) int64 { return st.Ctim.Nano() }
