package clienttest

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/testkit/damage"
	"github.com/hist-cli/hist/lint"
)

var (
	update  = flag.Bool("update", false, "rewrite docs/dev/codex-behaviour.md with what the clients do now")
	missing = flag.Bool("missing", false, "with -update: measure only what that page does not have, and keep the rest")
	old     = flag.Int("old", 16, "of the damaged fixtures, clients before the newest are shown one of so many; with -update all")
	newest  = flag.Int("newest", 12, "of the damaged fixtures, the newest client is shown one of so many; with -update all")
)

// isShown says whether a client is shown the fixture of a number: it takes seconds for each.
func isShown(i int, version string) bool {
	if versionLess(version, Newest) {
		return *update || i%*old == 0
	}
	return *update || i%*newest == 0
}

const behaviourPage = "../../../docs/dev/codex-behaviour.md"

const behaviourHead = `# What clients do with each damage, before and after a repair

Each row is a session of ` + "`fixtures/codex/rules`" + `, resumed by the real clients as it is, then after ` + "`hist repair`" + `. A number is how
many items of the session's history the model is sent, not counting the context messages that a client adds; "aborted" are outputs that
the client invents for calls without one. Without an arrow, the repair leaves the session as it is. After a repair, fewer items may
be sent: it removes duplicates, and whatever the API would refuse.

` + "`go test ./testing/codex/clienttest -run Fixtures -update`" + ` measures and writes this page; without -update, the test fails if a
client behaves differently.

`

// behaviour is what a client does with a session.
type behaviour struct {
	refused bool
	items   int
	aborted int
}

func (b behaviour) String() string {
	switch {
	case b.refused:
		return "refused"
	case b.aborted > 0:
		return fmt.Sprintf("%d, %d aborted", b.items, b.aborted)
	}
	return fmt.Sprint(b.items)
}

// TestResumeFixtures has clients resume the damaged fixtures before and after their repair, and compares what they do with
// the documented table. After a repair the client must accept the session and invent no output.
func TestResumeFixtures(t *testing.T) {
	if testing.Short() {
		t.Skip("a thousand runs of the real client; left out by -short")
	}
	paths, err := filepath.Glob("../../../fixtures/codex/rules/*/bad*.jsonl")
	if err != nil || len(paths) < 100 {
		t.Fatal(len(paths), err)
	}
	table := newTable(paths)
	var known map[string]map[string]string
	if page, err := os.ReadFile(behaviourPage); err == nil && *update && *missing {
		known = parseTable(string(page))
	}
	t.Run("clients", func(t *testing.T) {
		clients(t, func(t *testing.T, bin Binary) {
			t.Parallel()
			for i, path := range paths {
				if !isShown(i, bin.Version) {
					continue
				}
				have := known[bin.Version][row(path)]
				if have == "" {
					have = cell(t, bin, path)
				}
				table.set(path, bin.Version, have)
			}
		})
	})
	table.compare(t)
}

// fixtureName is the name that a client would have given to the thread of a fixture: with the id in its header, for 0.171.0 refuses a
// file whose header has another id than the one that it was asked for. A fixture without such an id gets that of most others.
func fixtureName(text []byte) string {
	id := "01a1edfd-e191-74b0-9003-79b97f4a7c15"
	for line := range bytes.Lines(text) {
		if h := gjson.GetBytes(line, "payload.id").String(); gjson.GetBytes(line, "type").String() == "session_meta" && anyID.FindString(h) == h && h != "" {
			id = h
			break
		}
	}
	return "rollout-2026-11-18T09-30-00-" + id + ".jsonl"
}

// newForm are repaired sessions that a client refuses because it is older than what they hold.
var newForm = map[string]string{"bad-header: agent-role": "0.79.0", "bad-header: lists": "0.114.0", "bad-header: nested": "0.79.0", "prefix-boundary": "0.79.0", "prefix-boundary: behind-the-end": "0.79.0", "prefix-boundary: unread-context": "0.79.0", "prefix-boundary: unread-end": "0.79.0", "prefix-boundary: went-on": "0.79.0", "ordinal-gap: inherited": "0.79.0"} // sub-agents'

// unmended are sessions of which a repair leaves what a client refuses.
var unmended = map[string]bool{"no-header: continued-prompt": true} // nothing says which session it continues

// cell is what stands in the table for one fixture and one client.
func cell(t *testing.T, bin Binary, path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	name := sidecar(path, "name", fixtureName(text))
	before := resumedAs(t, bin, text, name)
	repaired := repairFixture(t, path, text, name)
	if bytes.Equal(repaired, text) {
		return before.String()
	}
	after := resumedAs(t, bin, repaired, name)
	// Clients from before code mode do not read the outputs of its scripts, which are lists.
	script := codeMode(repaired) && versionLess(bin.Version, "0.145.0")
	if after.aborted > 0 && !script || after.refused && newForm[row(path)] != bin.Version && !unmended[row(path)] {
		t.Errorf("%s: after the repair: %s", path, after)
	}
	return before.String() + " → " + after.String()
}

// resumedAs resumes a session as if the client's only provider, which is the stand-in, had been its own: 0.169.0
// refuses to continue a thread with another provider.
func resumedAs(t *testing.T, bin Binary, text []byte, name string) behaviour {
	t.Helper()
	res := resumeText(t, bin, ours(text), name)
	if len(res.Requests) == 0 {
		return behaviour{refused: true}
	}
	input := Input(res.Requests[0].Body)
	c := Compare(nil, input)
	return behaviour{items: len(c.Extra) - c.Aborted, aborted: c.Aborted}
}

// ours is a session as if the client's provider here had been its own.
func ours(text []byte) []byte {
	for _, key := range []string{"model_provider", "model_provider_id"} {
		text = bytes.ReplaceAll(text, []byte(`"`+key+`":"openai"`), []byte(`"`+key+`":"mock"`))
	}
	return text
}

// repairFixture repairs a fixture with the flags that belong to it.
func repairFixture(t *testing.T, path string, text []byte, name string) []byte {
	t.Helper()
	c := damage.Case{Name: path, Data: text}
	opts := lint.Options{}
	flags := strings.Fields(sidecar(path, "flags", ""))
	for i, f := range flags {
		switch f {
		case "--for-codex":
			opts.For = map[string]string{"codex": flags[i+1]}
		case "--sibling-version":
			opts.SiblingVersion = func() string { return flags[i+1] }
		case "--keep-orphans":
			opts.KeepOrphans = true
		case "--strip-encrypted":
			opts.StripEncrypted = true
		case "--provider":
			opts.Provider = flags[i+1]
		}
	}
	return repairText(t, c, name, opts)
}

// sidecar reads what belongs to a fixture, or gives what holds without it.
func sidecar(path, kind, otherwise string) string {
	text, err := os.ReadFile(strings.TrimSuffix(path, ".jsonl") + "." + kind)
	if err != nil {
		return otherwise
	}
	return strings.TrimSpace(string(text))
}

// table is the page as it is measured: a row a fixture, a column a client.
type table struct {
	mu    sync.Mutex
	rows  []string
	cells map[string]map[string]string // by client, by row
}

func newTable(paths []string) *table {
	tb := &table{cells: map[string]map[string]string{}}
	for _, p := range paths {
		tb.rows = append(tb.rows, row(p))
	}
	slices.Sort(tb.rows)
	return tb
}

// row names a fixture: its rule, and its variant if it has one.
func row(path string) string {
	variant := strings.TrimPrefix(strings.TrimSuffix(filepath.Base(path), ".jsonl"), "bad")
	return filepath.Base(filepath.Dir(path)) + strings.Replace(variant, "-", ": ", 1)
}

func (tb *table) set(path, version, cell string) {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	if tb.cells[version] == nil {
		tb.cells[version] = map[string]string{}
	}
	tb.cells[version][row(path)] = cell
}

func (tb *table) compare(t *testing.T) {
	page, err := os.ReadFile(behaviourPage)
	if err != nil && !*update {
		t.Fatal(err)
	}
	known := parseTable(string(page))
	for version, cells := range tb.cells {
		for _, r := range tb.rows {
			if want := known[version][r]; cells[r] != "" && want != cells[r] && !*update {
				t.Errorf("%s, %s: %q, documented as %q; run with -update and read the change", version, r, cells[r], want)
			}
		}
		for r := range known[version] {
			if !slices.Contains(tb.rows, r) && !*update {
				t.Errorf("%s is documented, but there is no such fixture", r)
			}
		}
	}
	if *update {
		if err := os.WriteFile(behaviourPage, []byte(behaviourHead+tb.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// String is the table in Markdown, the newest client first.
func (tb *table) String() string {
	versions := Versions()
	slices.Reverse(versions)
	var b strings.Builder
	for _, v := range versions {
		before, after := tb.resumed(v)
		fmt.Fprintf(&b, "- %s resumes %d of %d damaged sessions, and %d after the repair.\n", v, before, len(tb.rows), after)
	}
	b.WriteString("\nA session that is still refused contains nothing that says whose it is, or is newer than the client.\n\n| damage | " + strings.Join(versions, " | ") + " |\n|---" + strings.Repeat("|---", len(versions)) + "|\n")
	for _, r := range tb.rows {
		b.WriteString("| " + r)
		for _, v := range versions {
			b.WriteString(" | " + tb.cells[v][r])
		}
		b.WriteString(" |\n")
	}
	return b.String()
}

// resumed counts the sessions that a client resumes before and after the repair.
func (tb *table) resumed(version string) (before, after int) {
	for _, cell := range tb.cells[version] {
		was, is, repaired := strings.Cut(cell, " → ")
		if !repaired {
			is = was
		}
		if was != "refused" {
			before++
		}
		if is != "refused" {
			after++
		}
	}
	return before, after
}

// parseTable reads the table back.
func parseTable(page string) map[string]map[string]string {
	cells := map[string]map[string]string{}
	var versions []string
	for line := range strings.Lines(page) {
		fields := strings.Split(strings.Trim(strings.TrimSpace(line), "| "), " | ")
		switch {
		case !strings.HasPrefix(line, "| "):
		case versions == nil:
			versions = fields[1:]
		default:
			for i, v := range versions {
				if cells[v] == nil {
					cells[v] = map[string]string{}
				}
				cells[v][fields[0]] = fields[i+1]
			}
		}
	}
	return cells
}
