package front

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

// FuzzAsStrings: the functions are those of package strings.
func FuzzAsStrings(f *testing.F) {
	f.Add("a=b=c", "a", 123)
	f.Add("", "", 0)
	f.Add("OfF@[", "oFf@[", 1)
	f.Add("@", "`", 1)
	f.Add("/usr/bin/codex.exe", ".exe", 10)
	f.Fuzz(func(t *testing.T, s, part string, n int) {
		after, found := strings.CutPrefix(s, part)
		gotAfter, gotFound := cutPrefix(s, part)
		before, rest, parted := strings.Cut(s, "=")
		gotBefore, gotRest, gotCut := cut(s, '=')
		if hasPrefix(s, part) != strings.HasPrefix(s, part) || gotAfter != after || gotFound != found || trimPrefix(s, part) != strings.TrimPrefix(s, part) ||
			trimSuffix(s, part) != strings.TrimSuffix(s, part) || gotBefore != before || gotRest != rest || gotCut != parted ||
			!slices.Equal(split(s, ':'), strings.Split(s, ":")) || lastPart(s, '/', '\\') != s[strings.LastIndexAny(s, `/\`)+1:] || ascii(s+part) && equalFold(s, part) != strings.EqualFold(s, part) || n >= 0 && itoa(n) != strconv.Itoa(n) {
			t.Errorf("%q %q %d", s, part, n)
		}
	})
}

func ascii(s string) bool { return !strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 }) }
