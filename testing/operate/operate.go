// Package operate tries hist's operations on sessions, and holds what real clients send of the results against what they promise.
package operate

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hist-cli/hist/cmd"
)

// Session is a session that hist's operations are tried on.
type Session struct {
	Path   string
	Secret string // a word of the conversation that `hist redact` is told to take for a secret
	// Earlier is the file as it was before its last turn, "" if it has only one.
	Earlier []byte
	// Sent has a real client resume a session, twice, and returns what each of the two requests says, in parts.
	Sent func(ctx context.Context, path string) (first, next []string, err error)
}

// sends is what a client must send of a result, by what it sends of the session. A nil one stands for the same as it sends of the session
// as it was before its last turn.
type sends func(o *Session, before, after []string) error

var sameAsEarlier sends

// operations are those that need nothing but the session's file. {} is the session, {out} the result; several commands stand one after
// the other.
var operations = []struct {
	name     string
	commands [][]string
	sends    sends
	earlier  bool // it goes by what is sent of the session as it was before its last turn, or needs that
}{
	{"slim, exact", [][]string{{"slim", "--level", "exact", "-o", "{out}", "{}"}}, same, false},
	{"slim", [][]string{{"slim", "-o", "{out}", "{}"}}, same, false},
	{"slim, marked", [][]string{{"slim", "--level", "marked", "--keep-images", "0", "--max-output", "100", "--drop-thinking", "-o", "{out}", "{}"}}, marked, false},
	{"fork", [][]string{{"fork", "-o", "{out}", "{}"}}, same, false},
	{"cut", [][]string{{"cut", "--last", "1", "-o", "{out}", "{}"}}, sameAsEarlier, true},
	{"cut in place", [][]string{{"fork", "-o", "{out}", "{}"}, {"cut", "--last", "1", "-i", "{out}"}}, sameAsEarlier, true},
	{"redact", [][]string{{"redact", "--pattern", "{secret}", "-o", "{out}", "{}"}}, redacted, false},
	{"join", [][]string{{"cut", "--last", "1", "-o", "{short}", "{}"}, {"join", "-o", "{out}", "{short}", "{}"}}, same, true},
}

// Try tries the operations on a session, and holds what a real client sends of each result against what it sends of the session: in
// the first request after a resume, and in the next one. One that hist refuses is logged.
func Try(t *testing.T, o Session) {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	type result struct {
		path, name string
		sends      sends
		said       [2][]string
		err        error
	}
	results := []*result{{path: o.Path}, {path: filepath.Join(t.TempDir(), filepath.Base(o.Path))}}
	if err := os.WriteFile(results[1].path, o.Earlier, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, op := range operations {
		if op.earlier && len(o.Earlier) == 0 {
			continue
		}
		dir := t.TempDir()
		out := filepath.Join(dir, filepath.Base(o.Path))
		by := strings.NewReplacer("{}", o.Path, "{out}", out, "{secret}", o.Secret, "{short}", filepath.Join(dir, "short.jsonl"))
		if told, err := hist(by, op.commands); err != nil {
			t.Logf("%s: %.200s", op.name, told)
			continue
		}
		results = append(results, &result{path: out, name: op.name, sends: op.sends})
	}
	var wait sync.WaitGroup
	places := make(chan struct{}, 3) // clients mostly wait for themselves
	for n, r := range results {
		if n == 1 && len(o.Earlier) == 0 {
			continue
		}
		wait.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			r.said[0], r.said[1], r.err = o.Sent(t.Context(), r.path)
		})
	}
	wait.Wait()
	for _, r := range results[:2] {
		if r.err != nil {
			t.Fatalf("%s: %v", r.path, r.err)
		}
	}
	for _, r := range results[2:] {
		before, how := results[0], r.sends
		if how == nil {
			before, how = results[1], same
		}
		for n, which := range []string{"first", "next"} {
			err := r.err
			if err == nil {
				err = how(&o, before.said[n], r.said[n])
			}
			if err != nil {
				t.Errorf("%s: %s: the %s request: %v", o.Path, r.name, which, err)
			}
		}
	}
	t.Logf("%s: %d operations, of which the client sends what they promise", filepath.Base(o.Path), len(results)-2)
}

// hist runs commands of hist, and says what the last one told, or the first that fails.
func hist(by *strings.Replacer, commands [][]string) (told string, err error) {
	for _, args := range commands {
		line := []string{"hist"}
		for _, arg := range args {
			line = append(line, by.Replace(arg))
		}
		var out bytes.Buffer
		if code := cmd.Main(line, strings.NewReader(""), &out, &out); code != cmd.ExitOK {
			return out.String(), fmt.Errorf("hist %s: exit %d", args[0], code)
		}
		told = out.String()
	}
	return told, nil
}

func same(_ *Session, before, after []string) error {
	for i := range max(len(before), len(after)) {
		if i >= min(len(before), len(after)) || before[i] != after[i] {
			return fmt.Errorf("%d parts before, %d after; part %d differs:\n  %.300s\n  %.300s", len(before), len(after), i, at(before, i), at(after, i))
		}
	}
	return nil
}

func at(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return "(none)"
}

func marked(_ *Session, before, after []string) error {
	thought := func(part string) bool { return strings.Contains(part, `"type":"thinking"`) }
	before, after = slices.DeleteFunc(slices.Clone(before), thought), slices.DeleteFunc(slices.Clone(after), thought)
	if len(before) != len(after) {
		return fmt.Errorf("%d parts before, %d after", len(before), len(after))
	}
	for i := range before {
		if before[i] != after[i] && !strings.Contains(after[i], "[hist: ") {
			return fmt.Errorf("part %d differs and does not say so:\n  %.300s\n  %.300s", i, before[i], after[i])
		}
	}
	return nil
}

func redacted(o *Session, before, after []string) error {
	drop := func(part string) bool {
		return strings.Contains(part, `"type":"reasoning"`) || strings.Contains(part, "thinking")
	}
	before, after = slices.DeleteFunc(slices.Clone(before), drop), slices.DeleteFunc(slices.Clone(after), drop)
	if len(before) != len(after) {
		return fmt.Errorf("%d parts before, %d after", len(before), len(after))
	}
	for i := range after {
		switch {
		case strings.Contains(after[i], o.Secret):
			return fmt.Errorf("part %d holds the secret: %.300s", i, after[i])
		case !strings.Contains(before[i], o.Secret) && before[i] != after[i]:
			return fmt.Errorf("part %d differs:\n  %.300s\n  %.300s", i, before[i], after[i])
		}
	}
	return nil
}
