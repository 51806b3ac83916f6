package inspect

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/internal/walk"
	"github.com/hist-cli/hist/lint"
)

// filled sets every field to something other than its zero value, where that is possible.
func filled(v reflect.Value, n *int64) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			filled(v.Field(i), n)
		}
	case reflect.String:
		*n++
		v.SetString(fmt.Sprintf("text %d \xff\n", *n))
	case reflect.Int64, reflect.Int:
		*n++
		v.SetInt(-*n << 40)
	case reflect.Uint8:
		*n++
		v.SetUint(uint64(*n%3 + 1))
	case reflect.Bool:
		v.SetBool(true)
	}
}

// What KnownHealthy relies on: a session without findings has the same result while it is in use.
func TestSoundInUse(t *testing.T) {
	sound := 0
	for _, agent := range []string{"codex", "claude"} {
		err := walk.Walk(t.Context(), "../../fixtures/"+agent, func(e walk.Entry) error {
			results := [2]*lint.Result{}
			for i := range results {
				res, err := lint.File(t.Context(), e.Path, lint.Options{Live: i == 1})
				if err != nil {
					return nil
				}
				results[i] = res
			}
			if len(results[0].Findings) > 0 {
				return nil
			}
			sound++
			if !reflect.DeepEqual(results[0], results[1]) {
				t.Errorf("%s: %+v, and in use %+v", e.Path, results[0], results[1])
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if sound < 100 {
		t.Errorf("only %d sound sessions", sound)
	}
}

// Every field of a result is stored except those that a lint does not show; a new field must be listed here or stored.
func TestNothingIsForgotten(t *testing.T) {
	var r lint.Result
	var n int64
	filled(reflect.ValueOf(&r.Summary).Elem(), &n)
	for range 3 {
		var f lint.Finding
		filled(reflect.ValueOf(&f).Elem(), &n)
		f.Rule = lint.Rules[n%int64(len(lint.Rules))]
		f.On.Text = "" // bytes for a repair
		r.Findings = append(r.Findings, f)
	}
	notKept := []string{"Edits", "Partial"} // a repair lints anew; what was not read to its end is not kept
	for _, v := range []reflect.Value{reflect.ValueOf(r.Summary), reflect.ValueOf(r.Findings[0])} {
		for i := range v.NumField() {
			if name := v.Type().Field(i).Name; v.Field(i).IsZero() != slices.Contains(notKept, name) {
				t.Errorf("field %s is of a kind that this test does not know", name)
			}
		}
	}
	got, err := decode(encode(&r))
	if err != nil || !reflect.DeepEqual(*got, r) {
		t.Errorf("%v:\n%+v\nwant\n%+v", err, got, r)
	}
	if got, err := decode(encode(&lint.Result{})); err != nil || !reflect.DeepEqual(*got, lint.Result{}) {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestPlaceTooFar: a place that no record can have is refused, and not cut off.
func TestPlaceTooFar(t *testing.T) {
	for _, far := range []int64{math.MaxInt32, math.MaxInt32 + 1, 1<<32 + 5} {
		var w coder
		for _, n := range []int64{7, far, 0} {
			w.num(&n)
		}
		r := decoder(w.b)
		var pos session.Pos
		if r.pos(&pos); r.bad == (far == math.MaxInt32) {
			t.Errorf("%d is read as %+v", far, pos)
		}
	}
}

// Anything that is not an encoded result is refused.
func FuzzDecode(f *testing.F) {
	f.Add(encode(&lint.Result{Findings: []lint.Finding{{Rule: lint.Rules[0], Message: "x"}}}))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, text []byte) {
		if r, err := decode(text); err == nil {
			if again, err := decode(encode(r)); err != nil || !reflect.DeepEqual(again, r) {
				t.Errorf("%+v becomes %+v, %v", r, again, err)
			}
		}
	})
}

var longAgo = time.Now().Add(-time.Hour)

// damaged makes a damaged session, and a cache in an empty directory.
func damaged(t *testing.T) (path string) {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	text, err := os.ReadFile("../../fixtures/codex/rules/call-without-output/bad.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "rollout-2026-11-18T09-30-00-01a1edfd-e191-74b0-9003-79b97f4a7c15.jsonl")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	old(t)
	return path
}

// old has all files count as at rest that have changed by now: their change time can't be set.
func old(t *testing.T) {
	t.Helper()
	tick := func() { time.Sleep(10 * time.Millisecond) } // of the file system's clock
	tick()
	was, at := Resting, time.Now()
	Resting = func() time.Time { return at }
	t.Cleanup(func() { Resting = was })
	tick()
}

// lintBy lints a file through a cache and says whether the file was read.
func lintBy(t *testing.T, c *Cache, path string, opts lint.Options) (*lint.Result, bool) {
	t.Helper()
	src, err := source.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if opts.Name.Base == "" {
		opts.Name = lint.NameOf(path, false)
	}
	res, err := c.Lint(t.Context(), src, opts)
	if err != nil {
		t.Fatal(err)
	}
	return res, src.BytesRead() > 0
}

func TestWarm(t *testing.T) {
	path := damaged(t)
	c := OpenCache("1")
	first, read := lintBy(t, c, path, lint.Options{})
	if !read || len(first.Findings) == 0 {
		t.Fatal("not linted")
	}
	c.Close()
	again, read := lintBy(t, OpenCache("1"), path, lint.Options{})
	for i := range first.Findings {
		first.Findings[i].Edits = nil
	}
	if read || !reflect.DeepEqual(first, again) {
		t.Errorf("read again: %v\n%+v\nwant\n%+v", read, again, first)
	}
	for what, opts := range map[string]lint.Options{
		"a client": {For: map[string]string{"codex": "0.114"}}, "a provider": {Provider: "azure"}, "a prefix": {WakePrefix: "x"}, "a tool": {SaveTool: "x"}, "an agent": {Agent: "codex"}, "Claude's version": {For: map[string]string{"claude": "2.1.2"}},
		"a name": {Name: lint.Name{Base: "x.jsonl"}}, "a home": {Name: lint.NameOf(path, true)}, "stripping": {StripEncrypted: true}, "orphans": {KeepOrphans: true}, "a writer": {Live: true}, "fresh": {Fresh: true},
	} {
		if _, read := lintBy(t, OpenCache("1"), path, opts); !read {
			t.Errorf("%s makes no difference", what)
		}
	}
	if _, read := lintBy(t, OpenCache("2"), path, lint.Options{}); !read {
		t.Error("another version uses it")
	}
	if _, read := lintBy(t, nil, path, lint.Options{}); !read {
		t.Error("no cache is one")
	}
}

// A file that changed in any way is linted again, even if its size and time are the same; the result of one that has just
// changed is not stored.
func TestChanged(t *testing.T) {
	path := damaged(t)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	c := OpenCache("1")
	lintBy(t, c, path, lint.Options{})
	c.Close()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.ReplaceAll(text, []byte("a"), []byte("b")), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	c = OpenCache("1")
	if _, read := lintBy(t, c, path, lint.Options{}); !read {
		t.Error("a change that kept size and time is not seen")
	}
	c.Close()
	if _, read := lintBy(t, OpenCache("1"), path, lint.Options{}); !read {
		t.Error("what had just changed was kept")
	}
}

// What a home's database holds of a session affects its findings, so that the entry is no longer valid when it changes.
func TestHomeChanges(t *testing.T) {
	outside := damaged(t)
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(home, "sessions", "2026", "11", "18", filepath.Base(outside))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../fixtures/codex/rules/call-without-output/ok.jsonl")
	if err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	old(t)
	opts := lint.Options{Home: home, Kept: Kept, Name: lint.NameOf(path, true)}
	for _, step := range []struct {
		what string
		do   func() error
		read bool
	}{
		{"cold", nil, true},
		{"warm", nil, false},
		{"a database", func() error { return os.WriteFile(filepath.Join(home, "thread_history_1.sqlite"), nil, 0o600) }, true},
		{"it has just changed", nil, true},
		{"at rest", func() error { old(t); return nil }, true},
		{"warm again", nil, false},
		{"a log of writes", func() error { return os.WriteFile(filepath.Join(home, "thread_history_1.sqlite-wal"), nil, 0o600) }, true},
	} {
		if step.do != nil {
			if err := step.do(); err != nil {
				t.Fatal(err)
			}
		}
		c := OpenCache("1")
		if _, read := lintBy(t, c, path, opts); read != step.read {
			t.Errorf("%s: read: %v", step.what, read)
		}
		c.Close()
	}
}

// A session without a header is compared with its neighbours, so that the result depends on them, too.
func TestNeighboursAsked(t *testing.T) {
	path := damaged(t)
	text, err := os.ReadFile("../../fixtures/codex/rules/no-header/bad.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	old(t)
	asked := 0
	opts := lint.Options{SiblingVersion: func() string { asked++; return "0.114.0" }}
	for range 2 {
		c := OpenCache("1")
		lintBy(t, c, path, opts)
		c.Close()
	}
	if asked != 2 {
		t.Errorf("asked %d times", asked)
	}
}

// A cache that is cut, or has any byte changed, gives what it gave, or nothing.
func TestDamagedCache(t *testing.T) {
	path := damaged(t)
	want, _ := lintBy(t, nil, path, lint.Options{})
	for i := range want.Findings {
		want.Findings[i].Edits = nil
	}
	c := OpenCache("1")
	lintBy(t, c, path, lint.Options{})
	c.Close()
	text, err := os.ReadFile(c.file)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 300 {
		bad := bytes.Clone(text)
		switch at := r.IntN(len(bad)); i % 3 {
		case 0:
			bad[at] ^= byte(1 << r.IntN(8))
		case 1:
			bad = bad[:at]
		default:
			bad = append(bad[:at:at], bad[at+r.IntN(len(bad)-at):]...)
		}
		if err := os.WriteFile(c.file, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		d := OpenCache("1")
		got, read := lintBy(t, d, path, lint.Options{})
		for i := range got.Findings {
			got.Findings[i].Edits = nil
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%d: %+v, want %+v", i, got, want)
		}
		if d.Close(); read {
			if _, read = lintBy(t, OpenCache("1"), path, lint.Options{}); read {
				t.Fatalf("%d: not mended", i)
			}
		}
	}
}

// Several processes at once share nothing but entries, and leave an intact cache.
func TestSeveralAtOnce(t *testing.T) {
	path := damaged(t)
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			for i := range 10 {
				c := OpenCache("1")
				lintBy(t, c, path, lint.Options{Provider: []string{"", "azure", "openai"}[(n+i)%3]})
				c.Close()
			}
		})
	}
	all.Wait()
	c := OpenCache("1")
	if _, err := os.Stat(c.file); err != nil || len(c.old) == 0 {
		t.Error(len(c.old), err)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(c.file), "*.tmp")); err != nil || len(left) > 0 {
		t.Error(left, err)
	}
}

// Where a cache can't be written or read, sessions are linted all the same.
func TestNoRoom(t *testing.T) {
	path := damaged(t)
	for what, make := range map[string]func(dir string) error{
		"a file in its place": func(dir string) error { return os.WriteFile(dir, nil, 0o600) },
		"a directory named like it": func(dir string) error {
			return os.MkdirAll(filepath.Join(dir, filepath.Base(OpenCache("1").file)), 0o700)
		},
	} {
		t.Setenv("XDG_CACHE_HOME", t.TempDir())
		dir, err := disk.CacheDir()
		if err != nil {
			t.Fatal(err)
		}
		if err := make(dir); err != nil {
			t.Fatal(err)
		}
		c := OpenCache("1")
		if _, read := lintBy(t, c, path, lint.Options{}); !read {
			t.Errorf("%s: not linted", what)
		}
		c.Close()
	}
}

// The file stays below its limit and keeps what was used last; of other builds' caches the oldest are removed.
func TestBounds(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	c := OpenCache("1")
	now := time.Now().Unix()
	all := map[key]entry{}
	for i := range 80 {
		all[key{0, byte(i)}] = entry{used: now - int64(i), text: bytes.Repeat([]byte{byte(i)}, maxEntry)}
	}
	all[key{0, 255}] = entry{used: now - int64(maxUnused/time.Second) - 10, text: []byte("old")}
	text := c.coded(all)
	if len(text) > maxFile {
		t.Errorf("%d bytes", len(text))
	}
	if err := os.MkdirAll(filepath.Dir(c.file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(c.file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	kept := OpenCache("1").old
	if _, ok := kept[key{}]; !ok || len(kept) != 63 {
		t.Errorf("%d kept", len(kept))
	}
	other := filepath.Join(filepath.Dir(c.file), "lint-000000000000"+suffix)
	foreign := filepath.Join(filepath.Dir(c.file), "notes.txt")
	for _, path := range []string{other, foreign} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, maxAll); err != nil {
			t.Fatal(err)
		}
		os.Chtimes(path, longAgo, longAgo)
	}
	prune(filepath.Dir(c.file), c.file)
	if s, err := CacheStats("1"); err != nil || s.Files != 1 || s.Own != 63 {
		t.Errorf("%+v, %v", s, err)
	}
	if n, err := CleanCache(); err != nil || n != int64(len(text)) {
		t.Error(n, err)
	}
	if _, err := os.Stat(foreign); err != nil || !strings.Contains(c.file, "hist") {
		t.Error("a file that is no cache is gone")
	}
}
