// Package agenttest is what every agent must pass.
package agenttest

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
	"github.com/hist-cli/hist/repair"
)

// thread is an id for names.
const thread = "01a1edfd-e191-74b0-9003-79b97f4a7c15"

// Suite tries what holds for every agent, on sessions of it in which nothing is damaged, by their names. The agent must be
// one of all.Agents.
func Suite(t *testing.T, a *agent.Agent, healthy map[string][]byte) {
	t.Helper()
	if name := a.ReadName(a.NewName(time.Now(), thread)); !name.Canonical || name.ThreadID != thread {
		t.Errorf("a name that the agent makes reads as %+v", name)
	}
	if len(a.Resume(thread)) == 0 || a.Title == "" {
		t.Error("no command resumes a thread, or the agent has no title")
	}
	if a.Claims("notes.jsonl", []byte("{\"note\":\"something else\"}\n")) {
		t.Error("it claims what it did not write")
	}
	for name, text := range healthy {
		t.Run(name, func(t *testing.T) { whole(t, a, text) })
		t.Run(name+" damaged", func(t *testing.T) { damaged(t, text) })
	}
}

// whole: a healthy session is claimed by its bytes, has no finding but notes, and is repaired to the same bytes.
func whole(t *testing.T, a *agent.Agent, text []byte) {
	if !a.Claims("copy.jsonl", text) {
		t.Error("the agent does not claim its session by its bytes")
	}
	res := linted(t, text)
	if res.Summary.Agent != a.Name || res.Summary.Records == 0 {
		t.Errorf("%+v", res.Summary)
	}
	for _, f := range res.Findings {
		if f.Impact != lint.Notes {
			t.Errorf("%s: %s [%s]", f.Pos, f.Message, f.Rule.Name)
		}
	}
	if got := repaired(t, text); !bytes.Equal(got, text) {
		t.Error("a repair changes a healthy session")
	}
	about := a.About(text)
	if about.Fault != "" || about.Info.ID != res.Summary.Header.ID {
		t.Errorf("its first bytes tell %+v, all of it %+v", about, res.Summary.Header)
	}
}

// damaged: whatever befalls the lines is found, and mended in one repair.
func damaged(t *testing.T, text []byte) {
	lines := bytes.SplitAfter(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	last := len(lines) - 1
	join := func(list ...[]byte) []byte { return append(bytes.Join(list, nil), '\n') }
	for name, bad := range map[string][]byte{
		"torn":  bytes.Join(append(lines[:last:last], lines[last][:len(lines[last])/2]), nil),
		"glued": join(append(append(lines[:1:1], bytes.TrimSuffix(lines[1], []byte("\n"))), lines[2:]...)...),
		"NULs":  join(append(append(lines[:last:last], bytes.Repeat([]byte{0}, 64)), lines[last])...),
	} {
		if len(linted(t, bad).Findings) == 0 {
			t.Errorf("%s: nothing is found", name)
		}
		once := repaired(t, bad)
		for _, f := range linted(t, once).Findings {
			if f.Impact != lint.Notes && f.Fix != lint.NoFix {
				t.Errorf("%s: left: %s [%s]\n%s", name, f.Message, f.Rule.Name, once)
			}
		}
		if again := repaired(t, once); !bytes.Equal(once, again) {
			t.Errorf("%s: a second repair changes it again", name)
		}
	}
}

func linted(t *testing.T, text []byte) *lint.Result {
	t.Helper()
	res, err := lint.Session(context.Background(), bytes.NewReader(text), lint.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func repaired(t *testing.T, text []byte) []byte {
	t.Helper()
	src, err := source.Stdin(bytes.NewReader(text), "")
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	var out bytes.Buffer
	if _, err := repair.Do(context.Background(), repair.Job{Source: src, Mode: repair.ToStream, Stream: &out}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
