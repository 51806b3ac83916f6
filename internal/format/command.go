package format

import (
	"regexp"
	"strings"
)

// bare is a word that a shell takes as it stands.
var bare = regexp.MustCompile(`^[A-Za-z0-9_./:@%+,=-]+$`)

// Command is a command to paste: its words, each without what a terminal would obey, and quoted for a POSIX shell
// unless it is plain.
func Command(words ...string) string {
	out := make([]string, len(words))
	for i, w := range words {
		if out[i] = w; !bare.MatchString(w) {
			out[i] = "'" + strings.ReplaceAll(OneLine(w), "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}
