package repair

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sergi/go-diff/diffmatchpatch"
)

// Part is a piece of a changed line; Changed says that the other version of the line does not have it.
type Part struct {
	Text    string
	Changed bool
}

// Mark compares two versions of a line around what differs. It shows up to limit bytes of the part that differs, and half as
// much of the equal parts on each side. Both versions must be valid UTF-8.
func Mark(before, after string, limit int) (b, a []Part) {
	head := commonHead(before, after)
	before, after, lead := before[head:], after[head:], before[:head]
	tail := commonTail(before, after)
	before, after, trail := before[:len(before)-tail], after[:len(after)-tail], before[len(before)-tail:]
	lead, trail = clipHead(lead, limit/2), Clip(trail, limit/2)
	b, a = []Part{{Text: lead}}, []Part{{Text: lead}}
	dmp := diffmatchpatch.New()
	dmp.DiffTimeout = 100 * time.Millisecond
	for _, d := range dmp.DiffCleanupSemantic(dmp.DiffMain(Clip(before, limit), Clip(after, limit), false)) {
		if d.Type != diffmatchpatch.DiffInsert {
			b = append(b, Part{d.Text, d.Type != diffmatchpatch.DiffEqual})
		}
		if d.Type != diffmatchpatch.DiffDelete {
			a = append(a, Part{d.Text, d.Type != diffmatchpatch.DiffEqual})
		}
	}
	return append(b, Part{Text: trail}), append(a, Part{Text: trail})
}

// commonHead is how many bytes two texts begin with alike, whole characters only.
func commonHead(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for n > 0 && n < len(a) && !utf8.RuneStart(a[n]) || n > 0 && n < len(b) && !utf8.RuneStart(b[n]) {
		n--
	}
	return n
}

// commonTail is how many bytes two texts end with alike, whole characters only.
func commonTail(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	for n > 0 && !utf8.RuneStart(a[len(a)-n]) {
		n--
	}
	return n
}

// Clip cuts a text after limit bytes, and appends an ellipsis if it did.
func Clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}

// clipHead cuts off the beginning of a text.
func clipHead(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return "…" + strings.ToValidUTF8(s[len(s)-limit:], "")
}
