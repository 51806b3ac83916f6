package home

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/testkit/testfile"
	"github.com/hist-cli/hist/internal/walk"
)

var ctx = context.Background()

// TestFindMany: a run over many sessions walks over the home once for the parents of all.
func TestFindMany(t *testing.T) {
	root := testfile.Tree(t, "sessions/2026/11/20/rollout-2026-11-20T10-00-00-"+idA+".jsonl", "sessions/notes.jsonl")
	many := walk.Remember(ctx)
	for _, id := range []string{idA, idB} {
		if _, err := Find(many, root, id); err != nil && !errors.Is(err, agent.ErrNoSession) {
			t.Fatal(err)
		}
	}
	for _, what := range []string{"names of ", "headers of "} {
		walk.RecentOf(many).Once(what+root, func() any {
			t.Errorf("%sthe home are asked for each time", what)
			return nil
		})
	}
}

func TestFind(t *testing.T) {
	const day = "sessions/2026/11/20/"
	first := "rollout-2026-11-20T10-00-00-" + idA
	old := day + first + ".jsonl"
	reverted := "sessions/2026/11/21/rollout-2026-11-21T09-00-00-" + idA + "_" + idC + ".jsonl"
	root := testfile.Tree(t, old, reverted, day+first+".jsonl.zst",
		day+"rollout-2026-11-20T11-00-00-"+idB+".jsonl.zst", "archived_sessions/rollout-2026-11-20T11-00-00-"+idB+".jsonl",
		"archived_sessions/nested/rollout-2025-01-01T00-00-00-"+idC+".jsonl",
		day+"notes-"+idA+".jsonl", "elsewhere/rollout-2026-11-20T10-00-00-"+idA+".jsonl")
	for _, c := range []struct {
		id   string
		want []string
		err  error
	}{
		{idA, []string{reverted, old}, nil},
		{strings.ToUpper(idA), []string{reverted, old}, nil},
		{idB, []string{day + "rollout-2026-11-20T11-00-00-" + idB + ".jsonl.zst", "archived_sessions/rollout-2026-11-20T11-00-00-" + idB + ".jsonl"}, nil},
		{"0199ffff", []string{"archived_sessions/nested/rollout-2025-01-01T00-00-00-" + idC + ".jsonl"}, nil},
		{"0199ffff-", []string{"archived_sessions/nested/rollout-2025-01-01T00-00-00-" + idC + ".jsonl"}, nil},
		{idA[:35], nil, agent.ErrAmbiguous},
		{"019a0000", nil, agent.ErrAmbiguous},
		{"019a000", nil, agent.ErrBadID},
		{"", nil, agent.ErrBadID},
		{"../sessions", nil, agent.ErrBadID},
		{"019a0000/", nil, agent.ErrBadID},
		{idA + "0", nil, agent.ErrBadID},
		{"\x1b[31m019a0000", nil, agent.ErrBadID},
		{"ffffffff", nil, agent.ErrNoSession},
	} {
		got, err := Find(ctx, root, c.id)
		if again, err := Find(walk.Remember(ctx), root, c.id); !errors.Is(err, c.err) || !slices.Equal(again, got) {
			t.Errorf("%q in a run over many: %v, %v", c.id, again, err)
		}
		if !errors.Is(err, c.err) || (err == nil) != (c.err == nil) {
			t.Errorf("%q: %v", c.id, err)
		}
		if err != nil && strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%q: a control character in the error", c.id)
		}
		want := []string(nil)
		for _, w := range c.want {
			want = append(want, filepath.Join(root, w))
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%q:\ngot  %v\nwant %v", c.id, got, want)
		}
	}
	if _, err := Find(ctx, t.TempDir(), idA); !errors.Is(err, agent.ErrNoSession) {
		t.Error(err)
	}
}
