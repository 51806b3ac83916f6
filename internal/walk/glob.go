package walk

import (
	"os"
	"path/filepath"
	"strings"
)

// Literal quotes a path, so that it stands for itself in a pattern of filepath.Glob.
func Literal(path string) string {
	if filepath.Separator == '\\' {
		return path // on this system, patterns have no escapes
	}
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// Modified is when a file was last changed, in nanoseconds since 1970; 0 if nobody can say.
func Modified(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.ModTime().UnixNano()
}
