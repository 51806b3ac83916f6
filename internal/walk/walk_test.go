package walk

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/hist-cli/hist/internal/testkit/testfile"
)

var ctx = context.Background()

// walked renders what Walk visits: paths relative to root, "(hidden)" and the error's kind.
func walked(t *testing.T, root string) []string {
	t.Helper()
	var got []string
	err := Walk(ctx, root, func(e Entry) error {
		rel, _ := filepath.Rel(root, e.Path)
		rel = filepath.ToSlash(rel)
		switch {
		case errors.Is(e.Err, ErrLoop):
			rel += " (loop)"
		case errors.Is(e.Err, fs.ErrPermission):
			rel += " (denied)"
		case errors.Is(e.Err, fs.ErrNotExist):
			rel += " (gone)"
		case e.Err != nil:
			rel += " " + e.Err.Error()
		case e.Hidden:
			rel += " (hidden)"
		}
		got = append(got, rel)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestWalk(t *testing.T) {
	outside := testfile.Tree(t, "o.jsonl", "deep/p.jsonl", "back -> .")
	for _, c := range []struct {
		name  string
		files []string
		want  []string
	}{
		{
			"order and names",
			[]string{"2026/02/b.jsonl", "2026/01/a.jsonl", "x.jsonl.zst", "a.txt", "b.jsonl.tmp", "c.zst", "2026/01/rollout.jsonl.bak", "empty/"},
			[]string{"2026/01/a.jsonl", "2026/02/b.jsonl", "x.jsonl.zst"},
		},
		{
			"hidden",
			[]string{"x.jsonl", "x.jsonl.zst", "sub/x.jsonl.zst", "d.jsonl/in.jsonl", "d.jsonl.zst"},
			[]string{"d.jsonl/in.jsonl", "d.jsonl.zst", "sub/x.jsonl.zst", "x.jsonl", "x.jsonl.zst (hidden)"},
		},
		{
			"loops",
			[]string{"a/x.jsonl", "a/up -> ..", "a/self -> .", "loop.jsonl -> loop.jsonl", "ring -> ring2", "ring2 -> ring", "z.jsonl"},
			[]string{"a/self (loop)", "a/up (loop)", "a/x.jsonl", "loop.jsonl (loop)", "ring (loop)", "ring2 (loop)", "z.jsonl"},
		},
		{
			"links",
			[]string{"a -> b", "b/x.jsonl", "c.jsonl -> b/x.jsonl", "gone.jsonl -> nowhere", "gone -> nowhere"},
			[]string{"b/x.jsonl", "c.jsonl", "gone.jsonl (gone)"},
		},
		{
			"outside",
			[]string{"l1 -> " + outside, "l2 -> " + outside, "l3 -> " + outside + "/deep"},
			[]string{"l1/back (loop)", "l1/deep/p.jsonl", "l1/o.jsonl"},
		},
		{
			"outside, inner first",
			[]string{"l1 -> " + outside + "/deep", "l2 -> " + outside},
			[]string{"l1/p.jsonl", "l2/back (loop)", "l2/o.jsonl"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := walked(t, testfile.Tree(t, c.files...))
			if fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("\ngot  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestWalkStops(t *testing.T) {
	root := testfile.Tree(t, "a.jsonl", "b.jsonl", "sub/c.jsonl")
	stop := errors.New("enough")
	n := 0
	if err := Walk(ctx, root, func(Entry) error { n++; return stop }); err != stop || n != 1 {
		t.Error(err, n)
	}
	c, cancel := context.WithCancel(ctx)
	if err := Walk(c, root, func(Entry) error { cancel(); return nil }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for path, want := range map[string]error{
		filepath.Join(root, "none"):    fs.ErrNotExist,
		filepath.Join(root, "a.jsonl"): nil,
	} {
		err := Walk(ctx, path, func(Entry) error { return nil })
		if err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
