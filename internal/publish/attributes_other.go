//go:build !linux

package publish

import "os"

// takeAttributes does nothing: access lists and extended attributes are not taken over on this system.
func takeAttributes(*os.File, string, bool) bool { return true }
