package clienttest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/internal/testkit/damage"
	"github.com/hist-cli/hist/lint"
	"github.com/hist-cli/hist/repair"
)

// tally adds up what a client made of the damaged sessions of its version.
type tally struct{ files, resumedBefore, resumedAfter, itemsBefore, itemsAfter, items int }

var every = flag.Int("every", 6, "of the damage to recordings of today's tools, the client is shown one case of so many")

// TestDamageMatrix damages the healthy recordings of each client in every way, and has the client resume them before
// and after the repair. After it the client must accept every session that is not empty and send every item that can
// be had back, in its order. Clients that have recordings of today's tools are measured by those.
func TestDamageMatrix(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, for long")
	}
	if testing.Short() {
		t.Skip("hundreds of runs of the real client; left out by -short")
	}
	clients(t, func(t *testing.T, bin Binary) {
		t.Parallel()
		var sum tally
		damageAll(t, bin, "tools", *every, &sum)
		damageAll(t, bin, "code", *every, &sum)
		if sum.files == 0 {
			damageAll(t, bin, "clean", 1, &sum)
		}
		if sum.files == 0 {
			t.Skipf("no healthy recording of %s in fixtures/codex", bin.Version)
		}
		// The row of docs/dev/testing.md, with -every 3.
		t.Logf("| Codex %s | %d | %d | %d | %.1f %% | %.1f %% |", bin.Version, sum.files, sum.resumedBefore, sum.resumedAfter,
			percent(sum.itemsBefore, sum.items), percent(sum.itemsAfter, sum.items))
	})
}

// damageAll shows a client one of so many cases of damage to its recording of a scenario, if there is one.
func damageAll(t *testing.T, bin Binary, scenario string, oneOf int, sum *tally) {
	recorded, err := filepath.Glob(filepath.Join("../../../fixtures/codex", bin.Version, scenario, "rollout-*.jsonl"))
	if err != nil || len(recorded) != 1 {
		return
	}
	clean, err := os.ReadFile(recorded[0])
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Base(recorded[0])
	whole := resumeText(t, bin, clean, name)
	if len(whole.Requests) != 1 {
		t.Fatalf("the healthy session does not resume: %+v", whole)
	}
	for i, c := range damage.Cases(clean) {
		if i%oneOf == 0 {
			sum.check(t, bin, c, name, whole)
		}
	}
}

func percent(n, of int) float64 { return 100 * float64(n) / float64(max(1, of)) }

func (s *tally) check(t *testing.T, bin Binary, c damage.Case, name string, whole Result) {
	want := inSession(Input(whole.Requests[0].Body))
	before := resumeText(t, bin, c.Data, name)
	s.files++
	cmpBefore := Comparison{Clean: Compare(want, want).Clean}
	if len(before.Requests) > 0 {
		s.resumedBefore++
		cmpBefore = Compare(want, Input(before.Requests[0].Body))
	}
	s.items += cmpBefore.Clean
	s.itemsBefore += cmpBefore.Sent + cmpBefore.Changed
	if c.Dead {
		return
	}
	repaired := repairText(t, c, name, lint.Options{})
	after := resumeText(t, bin, repaired, name)
	if len(after.Requests) == 0 {
		t.Errorf("%s: the repaired session does not resume: %s", c.Name, after.Stderr)
		return
	}
	s.resumedAfter++
	got := Compare(want, Input(after.Requests[0].Body))
	s.itemsAfter += got.Sent + got.Changed
	if c.Words {
		c.Lost++ // the words differ, as the damage left them
	}
	if got.Aborted > 0 || c.Lost >= 0 && len(got.Missing) > c.Lost || !got.OrderKept && !c.Beside {
		t.Errorf("%s: missing %q of which %d may be, %d aborted, order kept: %v", c.Name, got.Missing, c.Lost, got.Aborted, got.OrderKept)
	}
}

// inSession leaves out what a client writes by itself when it resumes: 0.171 compares the tools that the session had with its own, and says
// what has changed, if the record of the former can be read.
func inSession(items []json.RawMessage) []json.RawMessage {
	return slices.DeleteFunc(items, func(item json.RawMessage) bool {
		return bytes.Contains(item, []byte(`"This is an incremental tools update`))
	})
}

// codeMode says whether a session has scripts that call tools.
func codeMode(text []byte) bool { return bytes.Contains(text, []byte(`"name":"exec"`)) }

// resumes are the runs that were made, by a hash of what was resumed: tests share them.
var resumes sync.Map

// resumeText has the client resume a session in a fresh home.
func resumeText(t *testing.T, bin Binary, text []byte, name string) Result {
	t.Helper()
	key := sha256.Sum256(fmt.Appendf(nil, "%s %s\n%s", bin.Path, name, text))
	if res, made := resumes.Load(key); made {
		return res.(Result)
	}
	res := resumeNow(t, bin, text, name)
	resumes.Store(key, res)
	return res
}

func resumeNow(t *testing.T, bin Binary, text []byte, name string) Result {
	t.Helper()
	h, err := NewHome(t.TempDir(), bin)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	path := filepath.Join(h.Root, name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	id, err := h.AddSession(path)
	if err != nil {
		t.Fatal(err)
	}
	if model := CodeModelFor(bin.Version); codeMode(text) && model != "" {
		// With another model the client asks for a summary first.
		h.Config = append(h.Config, fmt.Sprintf("model=%q", model))
	}
	res := h.Resume(t.Context(), id, Prompt)
	if res.TimedOut {
		t.Fatalf("%s: no end after %v, which says nothing of the session: %s", name, Deadline, res.Stderr)
	}
	if blocked := h.Server.Blocked(); len(blocked) > 0 {
		t.Errorf("the client asked for other hosts: %v", blocked)
	}
	res.Requests = slices.Clone(res.Requests)
	return res
}

func repairText(t *testing.T, c damage.Case, name string, opts lint.Options) []byte {
	t.Helper()
	return repairChosen(t, c, name, opts, repair.Choice{})
}

// repairChosen repairs of a damaged session what is chosen.
func repairChosen(t *testing.T, c damage.Case, name string, opts lint.Options, choice repair.Choice) []byte {
	t.Helper()
	src, err := source.Stdin(bytes.NewReader(c.Data), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	var out bytes.Buffer
	opts.Name = lint.NameOf(name, true)
	_, err = repair.Do(context.Background(), repair.Job{Source: src, Lint: opts, Choice: choice, Mode: repair.ToStream, Stream: &out})
	if err != nil {
		t.Errorf("%s: %v", c.Name, err)
	}
	return out.Bytes()
}
