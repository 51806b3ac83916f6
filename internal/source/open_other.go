//go:build !unix

package source

import "os"

// openFile opens for reading.
func openFile(path string) (*os.File, error) { return os.Open(path) }
