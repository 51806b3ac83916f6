package repair

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

func pageOf(t *testing.T, content bool, reports ...*Report) string {
	t.Helper()
	var page strings.Builder
	if err := HTML(&page, reports, PageOptions{Content: content}); err != nil {
		t.Fatal(err)
	}
	return page.String()
}

// TestHTML checks that the page tells all that the report holds, and shows texts only where that was asked for.
func TestHTML(t *testing.T) {
	line := func(s string) []Excerpt { return []Excerpt{{Text: []byte(s), Size: len(s)}} }
	rep := &Report{
		Run: "20261120T100000Z-abcdef", Source: "old.jsonl", Target: "new.jsonl", Mode: "in-place", Resume: []string{"codex", "resume", "some-id"}, Next: []string{"codex", "resume", "some-id"},
		Totals: Totals{Read: 12, Untouched: 9, Edited: 1, Added: 2, SetAside: 3}, Proof: "00aa11bb", Aside: "/runs/aside", Notes: []string{"a note"},
		History: History{Items: 5, Before: 4, After: 5},
		Edits: []Entry{{
			Rule: "raw-control", Also: []string{"crlf"}, Impact: "loses", Fix: "exact", From: "line 8", FoundLine: 5, Line: 7, Offset: 70, LineAfter: 9, OffsetAfter: 90,
			Reason: "what was wrong", Before: line(`{"type":"a","text":"secret <b>one</b>"}`), After: line(`{"type":"b","text":"secret <b>one</b>"}`),
		}},
		Left: []Left{{Rule: "bad-header", Impact: "blocks", Fix: "none", Line: 1, Reason: "what is left"}},
	}
	redacted := pageOf(t, false, rep)
	for _, want := range []string{
		"hist undo 20261120T100000Z-abcdef", "old.jsonl", "new.jsonl", "codex resume some-id", "12 read, 9 untouched, 1 edited, 2 added, 3 set aside",
		"00aa11bb", "/runs/aside", "a note", "all 5 known items of the history; without the repair it has 4", `<span class="sent" style="flex: 4"></span><span class="gained" style="flex: 1"></span>`, "</span>4 sent with and without the repair", "</span>1 only because of the repair", "raw-control", "crlf", "exact from line 8; found on line 5; line 7, byte 70 → line 9, byte 90",
		"what was wrong", "<del>a</del>", "<ins>b</ins>", "bad-header", "what is left",
	} {
		if !strings.Contains(redacted, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(redacted, "secret") {
		t.Error("the page shows words of the conversation")
	}
	shown := pageOf(t, true, rep)
	if !strings.Contains(shown, "secret &lt;b&gt;one&lt;/b&gt;") || strings.Contains(shown, "<b>one") {
		t.Error("the page does not show the words, or obeys them")
	}
	if m := regexp.MustCompile(`(?i)(src|href)=|url\(|@import`).FindString(redacted); m != "" {
		t.Errorf("the page is not self-contained: %s", m)
	}
}

// TestBar: the bar is full, whatever becomes of the history.
func TestBar(t *testing.T) {
	for _, h := range []History{{Items: 5, Before: 4, After: 5}, {Items: 13, Before: 11, After: 11, Told: 2}, {Items: 9, Before: 8, After: 5, Told: 1}, {Items: 9, Before: 2, After: 4}, {Items: 3}, {Items: 4, Before: 4, After: 4, Partly: true}} {
		var all int64
		for _, s := range h.Bar() {
			all += s.Items
		}
		if all != h.Items {
			t.Errorf("%+v: the bar holds %d: %+v", h, all, h.Bar())
		}
	}
	if bar := (History{}).Bar(); len(bar) > 0 {
		t.Errorf("no history has a bar: %+v", bar)
	}
}

// TestHTMLIndex: of many sessions, the worst comes first, in the index and below it.
func TestHTMLIndex(t *testing.T) {
	var reports []*Report
	for i, impact := range []string{"notes", "loses", "blocks", "shows"} {
		reports = append(reports, &Report{Source: impact + ".jsonl", Mode: "dry-run", Edits: []Entry{{Rule: "x", Impact: impact, Fix: "exact", Line: int64(i)}}})
	}
	page := pageOf(t, false, reports...)
	index, sections, _ := strings.Cut(page, "</nav>")
	for _, part := range []string{index[strings.Index(index, "<nav"):], sections} {
		at := 0
		for _, impact := range []string{"blocks", "loses", "shows", "notes"} {
			next := strings.Index(part, impact+".jsonl")
			if next < at {
				t.Errorf("%s.jsonl is at %d, after %d", impact, next, at)
			}
			at = next
		}
	}
	if !strings.Contains(index, `<span class="impact blocks">blocks</span> <a href="#session-2">`) {
		t.Error("the index does not say the impact")
	}
}

// TestHTMLHostile checks that nothing in names or lines is obeyed.
func TestHTMLHostile(t *testing.T) {
	evil := "</pre><script>alert(1)</script>\x1b\x00\u202e\xff"
	page := pageOf(t, true, &Report{
		Run: "run", Source: evil, Target: evil, Mode: "in place", Proof: "00aa", Aside: evil, Resume: []string{evil}, Notes: []string{evil},
		Edits: []Entry{{Rule: "torn-tail", Impact: "loses", Fix: "exact", Reason: evil, From: evil, Before: []Excerpt{{Text: []byte(evil + "\xff")}}}},
	})
	if strings.Contains(page, "<script>alert") || strings.Count(page, "<script") != 1 {
		t.Error("a script of a session's stands in the page")
	}
	if strings.ContainsAny(page, "\x1b\x00\u202e") {
		t.Error("what stands in a name or a line can turn the text around")
	}
	if !utf8.ValidString(page) {
		t.Error("the page is no UTF-8")
	}
}
