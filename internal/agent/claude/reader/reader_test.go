package reader_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/agent/claude/reader"
)

// said is a message of a turn, so many seconds after the first.
func said(typ, id, parent string, seconds int) string {
	return fmt.Sprintf(`{"type":%q,"uuid":%q,"parentUuid":%q,"timestamp":"2026-11-20T10:00:%02d.000Z","message":{"id":"msg_%[2]s","role":%[1]q,"content":[{"type":"text","text":"says %[2]s"}]}}`,
		typ, id, parent, seconds)
}

// TestOddLines: which messages are sent, as 2.1.332 and 2.1.2 did.
func TestOddLines(t *testing.T) {
	u1, a2, u3, a4 := strings.Replace(said("user", "1", "", 0), `""`, "null", 1), said("assistant", "2", "1", 8), said("user", "3", "2", 20), said("assistant", "4", "3", 28)
	nameless := func(l string) string { return strings.Replace(l, `"uuid"`, `"id"`, 1) }
	gap, answer := said("user", "5", "gone", 30), said("assistant", "6", "5", 31)
	end := func(id string) string { return fmt.Sprintf(`{"type":"last-prompt","leafUuid":%q}`, id) }
	for name, c := range map[string]struct {
		version, want string
		lines         []string
	}{
		"a whole record, and the beginning of one":           {"2.1.332", "1 2 3 4", []string{u1, a2, u3 + a4[:40], a4}},
		"a whole record, and words":                          {"2.1.332", "1 2 3 4", []string{u1, a2, u3 + " and so on", a4}},
		"a whole record, and NULs":                           {"2.1.332", "1 2 3 4", []string{u1, a2, u3 + "\x00\x00", a4}},
		"the beginning of a record, and a whole one":         {"2.1.332", "4", []string{u1, a2, a2[:40] + u3, a4}},
		"the same, and an older client":                      {"2.1.100", "4", []string{u1, a2, u3 + a4[:40], a4}},
		"no id, and what follows is not near in time":        {"2.1.332", "4", []string{u1, a2, nameless(u3), a4}},
		"no id, and what follows is near in time":            {"2.1.332", "1 2 3 4", []string{u1, a2, nameless(u3), strings.Replace(a4, ":28.", ":24.", 1)}},
		"no id at the end":                                   {"2.1.332", "1 2 3 4", []string{u1, a2, u3, nameless(a4)}},
		"the same, and a client that goes by the time":       {"2.1.2", "1 2 3 4", []string{u1, a2, u3, nameless(a4)}},
		"two without ids, of which the last is read":         {"2.1.332", "4", []string{u1, a2, nameless(u3), nameless(a4)}},
		"a gap behind the end that was named":                {"2.1.332", "1 2 3 4", []string{u1, a2, u3, a4, end("4"), gap, answer}},
		"a gap, and an end that was named in front of it":    {"2.1.332", "1 2", []string{u1, a2, end("2"), u3, a4, gap, answer}},
		"a gap in front of the end that was named":           {"2.1.332", "1 2 3 4 5 6", []string{u1, a2, u3, a4, gap, answer, end("6")}},
		"a gap, and nothing says where the session's end is": {"2.1.332", "1 2 3 4 5 6", []string{u1, a2, u3, a4, gap, answer}},
	} {
		sent := reader.Sent([]byte(strings.Join(c.lines, "\n")+"\n"), c.version, nil)
		var got []string
		for i := range sent.Items {
			if _, words, ok := strings.Cut(string(sent.Items[i].Content), "says "); ok {
				got = append(got, words[:1])
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v is sent, want %s", name, got, c.want)
		}
	}
}
