package format

import (
	"regexp"
	"strings"
)

// bare matches a word that needs no quotes in a shell.
var bare = regexp.MustCompile(`^[A-Za-z0-9_./:@%+,=-]+$`)

// Command returns a command line to paste: its words, with characters that control a terminal replaced, and quoted for a
// POSIX shell where necessary.
func Command(words ...string) string {
	out := make([]string, len(words))
	for i, w := range words {
		if out[i] = w; !bare.MatchString(w) {
			out[i] = "'" + strings.ReplaceAll(OneLine(w), "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}
