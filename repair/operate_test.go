package repair_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/surgery"
	"github.com/hist-cli/hist/internal/testkit"
	"github.com/hist-cli/hist/internal/timeline"
	"github.com/hist-cli/hist/lint"
	"github.com/hist-cli/hist/repair"
)

type planner func(s *surgery.Session, of surgery.Surgeon) (*surgery.Plan, error)

// operations are those that any healthy session allows.
var operations = []struct {
	name string
	plan planner
	once bool // a second one would change something else
}{
	{"slim exact", slimmed(surgery.SlimOptions{Level: surgery.Exact}), false},
	{"slim", slimmed(surgery.SlimOptions{Level: surgery.Model}), false},
	{"slim marked", slimmed(surgery.SlimOptions{Level: surgery.Shorter, MaxOutput: 100, DropThinking: true}), false},
	{"cut one turn", cutAt(1, surgery.CutOptions{InPlace: true}), true},
	{"cut one turn, and purge", cutAt(1, surgery.CutOptions{InPlace: true, Purge: true}), true},
	{"cut two turns, and purge", cutAt(2, surgery.CutOptions{InPlace: true, Purge: true}), true},
	{"cut four turns, and purge", cutAt(4, surgery.CutOptions{InPlace: true, Purge: true}), true},
	{"cut in a turn, and purge", cutWithin(true), true},
	{"cut in a turn", cutWithin(false), true},
	{"cut in front of a turn", cutBefore, true},
	{"slim to less", slimToLess, true},
	{"slim to no images", slimmed(surgery.SlimOptions{Level: surgery.Shorter, DropThinking: true}), false},
	{"redact", redactWords, false},
	{"move", moved(surgery.RewriteFields), false},
	{"move, and rewrite the history", moved(surgery.RewriteHistory), false},
}

func slimmed(opts surgery.SlimOptions) planner {
	return func(s *surgery.Session, of surgery.Surgeon) (*surgery.Plan, error) { return of.Slim(s, opts) }
}

// cutAt cuts behind each turn but the last n.
func cutAt(n int, opts surgery.CutOptions) planner {
	return func(s *surgery.Session, of surgery.Surgeon) (*surgery.Plan, error) {
		turns, err := timeline.Turns(s)
		if err != nil || len(turns) <= n {
			return &surgery.Plan{}, err
		}
		opts.After = strconv.Itoa(len(turns) - n)
		return cutThere(s, of, opts)
	}
}

func cutThere(s *surgery.Session, of surgery.Surgeon, opts surgery.CutOptions) (*surgery.Plan, error) {
	turns, err := timeline.Turns(s)
	if err != nil {
		return nil, err
	}
	at, err := s.Place(turns, opts)
	if err != nil {
		return nil, err
	}
	return of.Cut(s, at)
}

// cutWithin cuts behind a call in the middle of what is sent, so that its output is lost.
func cutWithin(purge bool) planner {
	return func(s *surgery.Session, of surgery.Surgeon) (*surgery.Plan, error) {
		for i := range s.Sent.Items {
			it := &s.Sent.Items[(i+len(s.Sent.Items)/2)%len(s.Sent.Items)]
			if at := s.Index(it.Pos); at > 0 && it.Kind == session.CallItem && i >= s.Sent.Inherited && it.Made == "" {
				for _, path := range []string{"uuid", "payload.call_id"} {
					if id, ok := surgery.At(s.Records[at].Raw, path); ok {
						return cutThere(s, of, surgery.CutOptions{At: id.String(), InPlace: true, Purge: purge})
					}
				}
			}
		}
		return &surgery.Plan{}, nil
	}
}

// cutBefore cuts in front of the turn in the middle.
func cutBefore(s *surgery.Session, of surgery.Surgeon) (*surgery.Plan, error) {
	turns, err := timeline.Turns(s)
	if err != nil || len(turns) < 2 {
		return &surgery.Plan{}, err
	}
	return cutThere(s, of, surgery.CutOptions{Before: strconv.Itoa(max(2, len(turns)/2)), InPlace: true})
}

func slimToLess(s *surgery.Session, of surgery.Surgeon) (*surgery.Plan, error) {
	return surgery.SlimTo(s, of, surgery.SlimOptions{KeepImages: 2, MaxOutput: 4000, DropThinking: true}, int64(len(s.Text)*3/4))
}

// redactWords takes words for secrets that people, models and tools say, and the formats do not.
func redactWords(s *surgery.Session, of surgery.Surgeon) (*surgery.Plan, error) {
	finder, err := surgery.NewFinder([]*regexp.Regexp{regexp.MustCompile(`(?i)\b(?:please|hello|reply|answer|begin|look|done)[a-z]*\b`)}, nil)
	if err != nil {
		return nil, err
	}
	r, err := surgery.Redact(s, of, surgery.RedactOptions{Finder: finder, Salt: []byte("a test's"), DropEncrypted: true})
	if err != nil {
		return nil, err
	}
	return r.Plan, nil
}

func moved(how surgery.Rewrite) planner {
	return func(s *surgery.Session, of surgery.Surgeon) (*surgery.Plan, error) {
		if s.Info.CWD == "" {
			return &surgery.Plan{}, nil
		}
		return of.Move(s, surgery.MoveOptions{From: s.Info.CWD, To: "/srv/elsewhere", Rewrite: how})
	}
}

// healthySessions are the fixtures that are, and whatever sessions lie below the directory $HIST_RECORDINGS: those may be damaged.
func healthySessions(t *testing.T) (fixtures, recordings []string) {
	t.Helper()
	fixtures, err := filepath.Glob("../fixtures/*/healthy/*/session.jsonl")
	if err != nil || len(fixtures) == 0 {
		t.Fatal("no fixtures", err)
	}
	if dir := os.Getenv("HIST_RECORDINGS"); dir != "" {
		if err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if filepath.Ext(path) == ".jsonl" {
				recordings = append(recordings, path)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	return fixtures, recordings
}

// Each operation leaves every healthy session sound, and what is sent of it as it promises; a second one finds nothing to do, and undo
// brings each byte back. That the result lints clean and sends what it should is checked by Do itself, which otherwise fails.
func TestOperationsOnHealthySessions(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	fixtures, recordings := healthySessions(t)
	for i, o := range operations {
		changed := 0
		sample := testkit.Sample(append(slices.Clone(fixtures), recordings...), 8, i)
		for k, path := range append(slices.Clone(sample), fixtures...) {
			if k >= len(sample) && changed > 0 {
				break // the rest is only for an operation with nothing to do in its sample
			}
			op := &repair.Operation{Name: o.name, Plan: func(s *surgery.Session) (*surgery.Plan, error) {
				if of := all.Surgeon(s.Agent); of != nil {
					return o.plan(s, of)
				}
				return &surgery.Plan{}, nil
			}}
			did, err := operateAndUndo(t, path, op, o.once)
			switch {
			case errors.Is(err, lint.ErrUnclaimed):
			case errors.Is(err, surgery.ErrRefused), errors.Is(err, surgery.ErrUsage), errors.Is(err, repair.ErrVerify) && refusedAlways.MatchString(path):
				t.Logf("%s: %s: %v", o.name, path, err)
			case errors.Is(err, repair.ErrUnsound) && (!slices.Contains(fixtures, path) || onlyAsItIs(path)):
			case err != nil:
				t.Errorf("%s: %s: %v", o.name, path, err)
			case did:
				changed++
			}
		}
		if changed == 0 {
			t.Errorf("%s changed no session at all", o.name)
		}
	}
}

// refusedAlways are fixtures that some cuts would leave unsound, so they are refused: a client that writes a session anew gives each
// record a second time, with the ids of its answers and calls; and what is sound only together with an output is not once that is cut.
var refusedAlways = regexp.MustCompile(`/(?:written-anew|server-tool|tool-name-that-the-model-made-up)`)

// onlyAsItIs says whether a fixture is only healthy under the name that its client gave it, or while that writes it.
func onlyAsItIs(path string) bool {
	for _, beside := range []string{"name", "flags"} {
		if _, err := os.Stat(filepath.Join(filepath.Dir(path), beside)); err == nil {
			return true
		}
	}
	return false
}

// operateAndUndo tries an operation on a copy of a session. It returns whether that changed the copy.
func operateAndUndo(t *testing.T, path string, op *repair.Operation, once bool) (changed bool, err error) {
	ctx := context.Background()
	was, err := os.ReadFile(path)
	if err != nil {
		return false, err
	}
	file := filepath.Join(t.TempDir(), filepath.Base(path))
	if err := os.WriteFile(file, was, 0o600); err != nil {
		return false, err
	}
	rep, err := repair.Do(ctx, repair.Job{Path: file, Operation: op, Mode: repair.InPlace})
	if err != nil || rep.Run == "" {
		return false, err
	}
	if !once {
		again, err := repair.Do(ctx, repair.Job{Path: file, Operation: op, Mode: repair.DryRun, Instead: repair.InPlace})
		if err != nil || len(again.Operation.Parts) > 0 {
			return false, fmt.Errorf("a second one is not idle: %w %+v", err, again)
		}
	}
	if _, err := repair.Undo(ctx, rep.Run); err != nil {
		return false, fmt.Errorf("undo: %w", err)
	}
	if is, err := os.ReadFile(file); err != nil || !bytes.Equal(is, was) {
		return false, fmt.Errorf("undo left other bytes: %w", err)
	}
	return true, nil
}

// Cut in place behind a compaction, Claude Code is pointed behind the attachments of that. Under the last message, 2.1.332 sends them in the
// first request, and no longer in the next one.
func TestCutInPlaceBehindACompaction(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	s, err := sessionAt("../fixtures/claude/2.1.332/compact/0a2f75a0-c959-4f4c-a509-f76b3242eb06.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	plan, err := cutAt(1, surgery.CutOptions{InPlace: true})(s, all.Surgeon(s.Agent))
	if err != nil {
		t.Fatal(err)
	}
	const lastAttachment = "a3b1a760-5795-4bf2-8554-6d4e6f4d35c0"
	if notice := gjson.ParseBytes(plan.Groups[0].Edits[0].New.Literal); notice.Get("parentUuid").String() != lastAttachment {
		t.Errorf("the notice stands elsewhere: %s", notice)
	}
}

// What is exported of a healthy session has each text that its client sends; but reasoning that is in no words.
func TestExportHealthySessions(t *testing.T) {
	fixtures, recordings := healthySessions(t)
	told := 0
	for _, path := range append(fixtures, recordings...) {
		s, err := sessionAt(path)
		if err != nil || s.Sent == nil {
			continue
		}
		var markdown bytes.Buffer
		if err := surgery.Export(&markdown, s, surgery.ExportOptions{}); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		for i := range s.Sent.Items {
			for _, text := range wordsOf(&s.Sent.Items[i]) {
				if told++; !strings.Contains(markdown.String(), text) {
					t.Errorf("%s: item %d is not in the export: %.100q", path, i, text)
				}
			}
		}
	}
	if told < 1000 {
		t.Errorf("only %d texts were looked for", told)
	}
}

// wordsOf are the texts of an item that an export or another client can hold.
func wordsOf(it *session.Item) (texts []string) {
	if it.Kind == session.ReasoningItem {
		return nil
	}
	for _, p := range surgery.Parts(it) {
		if text := strings.TrimRight(p.Text, "\n"); text != "" {
			texts = append(texts, text)
		}
	}
	return texts
}

// What Codex keeps for the reviewer of approvals is no part of what is sent: its images go at each level, and are none of those that are kept.
func TestSlimReviewed(t *testing.T) {
	paths, err := filepath.Glob("../fixtures/codex/0.171.0/compact/*.jsonl")
	if err != nil || len(paths) != 1 {
		t.Fatal(paths, err)
	}
	text, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	picture := strings.Repeat("iVBORw0K", 40)
	kept := `"type":"compacted","payload":{"guardian_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"look"},{"type":"input_image","image_url":"data:image/png;base64,` + picture + `"}]}],`
	path := filepath.Join(t.TempDir(), filepath.Base(paths[0]))
	text = bytes.Replace(text, []byte(`"type":"compacted","payload":{`), []byte(kept), 1)
	if err := os.WriteFile(path, text, 0o600); err != nil || !bytes.Contains(text, []byte(picture)) {
		t.Fatal(err)
	}
	s, err := sessionAt(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, level := range []surgery.Level{surgery.Exact, surgery.Model, surgery.Shorter} {
		plan, err := all.Surgeon(s.Agent).Slim(s, surgery.SlimOptions{Level: level, KeepImages: 1})
		if err != nil {
			t.Fatal(err)
		}
		cut := 0
		for _, g := range plan.Groups {
			if g.Name == "images-of-reviews" && g.Saved > 200 {
				cut++
			} else if strings.Contains(g.Name, "image") && !g.Empty() {
				t.Errorf("%s: %s", level, g.Name)
			}
		}
		if cut != 1 {
			t.Errorf("%s: the image stays", level)
		}
	}
}

// Each byte of a session is in one class, and images and reasoning are found wherever they stand.
func TestSizes(t *testing.T) {
	fixtures, _ := healthySessions(t)
	recordings, err := filepath.Glob("../fixtures/pi/1.5.2/*/*.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int64{}
	for _, path := range append(fixtures, recordings...) {
		s, err := sessionAt(path)
		if err != nil {
			continue
		}
		sum := int64(0)
		for _, z := range s.Sizes() {
			if sum += z.Bytes; z.Bytes < 0 {
				t.Errorf("%s: %d bytes of %s", path, z.Bytes, z.Name)
			}
			found[s.Agent.Name+" "+z.Class] += z.Bytes
		}
		if sum != int64(len(s.Text)) {
			t.Errorf("%s: the classes have %d bytes, the file has %d", path, sum, len(s.Text))
		}
	}
	for _, agent := range []string{"codex", "claude", "pi"} {
		for _, class := range []string{"prompts", "answers", "thinking", "calls", "outputs", "images", "summaries"} {
			if found[agent+" "+class] == 0 {
				t.Errorf("no %s in any session of %s", class, agent)
			}
		}
	}
}

// Cut in place between parallel calls and their outputs, which stay in the file behind the place: the client sends what stands in front of it, and
// outputs that say that the calls were interrupted.
func TestCutInPlaceBetweenCallsAndOutputs(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	fixtures, err := filepath.Glob("../fixtures/claude/healthy/*/session.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	cut := 0
	for _, path := range fixtures {
		s, err := sessionAt(path)
		if err != nil {
			continue
		}
		plan, err := cutWithin(false)(s, all.Surgeon(s.Agent))
		if err != nil || len(plan.Closed) == 0 {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), filepath.Base(path))
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		op := &repair.Operation{Name: "cut", Plan: func(s *surgery.Session) (*surgery.Plan, error) { return cutWithin(false)(s, all.Surgeon(s.Agent)) }}
		if _, err := repair.Do(context.Background(), repair.Job{Path: file, Operation: op, Mode: repair.InPlace}); err != nil {
			t.Logf("%s: %v", path, err)
			continue
		}
		is, err := sessionAt(file)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		for _, it := range is.Sent.Items {
			if it.Kind == session.OutputItem && slices.Contains(plan.Closed, it.CallID) && !strings.Contains(string(it.Content), "interrupted") {
				t.Errorf("%s: the output of %s is still sent: %s", path, it.CallID, it.Content)
			}
		}
		cut++
	}
	if cut < 10 {
		t.Errorf("only %d were cut", cut)
	}
}
