//go:build !unix

package cmd

// freeBytes can't tell how much room a disk has here.
func freeBytes(string) (free int64, ok bool) { return 0, false }
