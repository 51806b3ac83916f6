package repair

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/hist-cli/hist/internal/publish"
	"github.com/hist-cli/hist/internal/runs"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/internal/testkit"
	"github.com/hist-cli/hist/lint"
)

// TestSums: the sums in the record and in the report, most of which share the work, are those of the bytes.
func TestSums(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	texts := map[string][]byte{}
	for seed := range int64(testkit.Times(12, 12)) {
		texts[string(rune('a'+seed))] = damagedCorpus(t, seed)
	}
	paths, err := filepath.Glob("../fixtures/*/rules/*/bad*.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range testkit.Sample(paths, 16, 0) {
		if texts[path], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	records := 0
	for name, text := range texts {
		for _, mode := range []Mode{NewThread, InPlace, ToFile} {
			f, rep := recordOf(t, text, mode)
			if rep == nil {
				continue
			}
			records++
			if f.SHA256Before != hexSum(text) {
				t.Errorf("%s (%s): sum of the session: %s", name, mode, f.SHA256Before)
			}
			after, err := os.ReadFile(f.Target)
			if err != nil {
				t.Fatal(err)
			}
			if f.SHA256After != hexSum(after) || f.SizeAfter != int64(len(after)) {
				t.Errorf("%s (%s): sum of the copy: %s", name, mode, f.SHA256After)
			}
			if mode == ToFile && len(rep.Edits) > 0 {
				// What took more than one pass has fewer untouched lines than its first pass.
				if alone := rewriteOf(t, text, false); bytes.Equal(alone.out, after) && rep.Proof != alone.rw.Proof {
					t.Errorf("%s: sum of the untouched lines: %s, without that of the copy %s", name, rep.Proof, alone.rw.Proof)
				}
			}
		}
	}
	if records < testkit.Times(200, 16) {
		t.Errorf("only %d repairs", records)
	}
}

// recordOf repairs a session file; the report is nil if that is refused.
func recordOf(t *testing.T, text []byte, mode Mode) (runs.File, *Report) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "session.jsonl")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	src, err := source.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	var run *runs.Run
	rep, err := Do(t.Context(), Job{
		Source: src, Mode: mode, Output: filepath.Join(dir, "out.jsonl"),
		Begin: func() (*runs.Run, error) {
			var err error
			run, err = runs.New("test")
			return run, err
		},
	})
	if err != nil || run == nil {
		return runs.File{}, nil
	}
	return run.Manifest.Files[0], rep
}

func hexSum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// TestProof: the hash is that of the untouched lines, and a copy in which one of them is changed is not accepted.
func TestProof(t *testing.T) {
	const text = "{\"type\":\"a\"}\n{\"type\":\"b\"}\n{\"type\":\"c\"}"
	for name, tee := range map[string]bool{"alone": false, "with the copy's sum": true} {
		var copied bytes.Buffer
		var w io.Writer = &copied
		if tee {
			w = source.NewTee(&copied)
		}
		var o output
		o.begin(w)
		err := errors.Join(
			o.stays(1, 0, 1, []byte(`{"type":"a"}`), true),
			o.puts([]byte(`{"type":"new"}`), true),
			o.stays(2, 13, 1, []byte(`{"type":"b"}`), true),
			o.stays(3, 26, 1, []byte(`{"type":"c"}`), false),
			o.finish(),
		)
		if err != nil || o.from != 13 || int(o.bytes) != copied.Len() || o.lines != 4 {
			t.Errorf("%s: %+v, %v", name, o, err)
		}
		var same output
		same.Differs = func(sum *source.Sum, size int64) {
			if tee && (size != 12 || sum.Hex() != hexSum([]byte(`{"type":"a"}`))) || !tee && size != 0 {
				t.Errorf("%s: %d bytes in common", name, size)
			}
			same.Differs = nil
		}
		if w = io.Discard; tee {
			w = source.NewTee(w)
		}
		same.begin(w)
		if err := errors.Join(same.stays(1, 0, 1, []byte(`{"type":"a"}`), false), same.finish()); err != nil || same.from != 12 || same.Differs != nil {
			t.Errorf("%s: %+v, %v", name, same, err)
		}
		if want := hexSum([]byte(text + "\n")); o.Proof != want {
			t.Errorf("%s: hash %s, want %s", name, o.Proof, want)
		}
		for at := range copied.Bytes() {
			changed := bytes.Clone(copied.Bytes())
			changed[at] ^= 1
			c := o.checker()
			c.Write(changed[:at/2])
			c.Write(changed[at/2:])
			new := at >= 13 && at < 28
			if same := c.same(); same != new {
				t.Errorf("%s: byte %d changed, accepted: %v", name, at, same)
			}
		}
		changed := bytes.Replace(copied.Bytes(), []byte(`"b"`), []byte(`"B"`), 1)
		if _, err := readBack(context.Background(), bytes.NewReader(changed), &o, lint.Options{Agent: "codex"}); !errors.Is(err, ErrVerify) {
			t.Errorf("%s: verified although a line is another: %v", name, err)
		}
	}
}

// TestProofInPieces: in a long copy, too, a change of any untouched byte is found, whatever parts it is written and read in, and no
// change of another byte is.
func TestProofInPieces(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var out bytes.Buffer
	var o output
	o.begin(&out)
	untouched := map[int]bool{} // the first and last bytes of both kinds of lines
	for range 40 {
		from := out.Len()
		line := bytes.Repeat([]byte{byte('a' + rng.IntN(26))}, 4+rng.IntN([]int{50, streamPiece, 3 * streamPiece}[rng.IntN(3)]))
		stays := rng.IntN(3) > 0
		write := func() error { return o.puts(line, true) }
		if stays {
			write = func() error { return o.stays(1, 0, 1, line, true) }
		}
		if err := write(); err != nil {
			t.Fatal(err)
		}
		for _, at := range []int{from, from + 1, (from + out.Len()) / 2, out.Len() - 2, out.Len() - 1} {
			untouched[at] = stays
		}
	}
	if err := o.finish(); err != nil {
		t.Fatal(err)
	}
	copied := out.Bytes()
	same := func(copied []byte) bool {
		c := o.checker()
		for len(copied) > 0 {
			n := min(len(copied), 1+rng.IntN(2*streamPiece))
			c.Write(copied[:n])
			copied = copied[n:]
		}
		return c.same()
	}
	if !same(copied) {
		t.Fatal("not accepted")
	}
	for at, is := range untouched {
		copied[at] ^= 1
		if same(copied) == is {
			t.Errorf("byte %d of %d, untouched: %v, is changed", at, len(copied), is)
		}
		copied[at] ^= 1
	}
}

// TestCopyChanged: a copy in which a letter of an untouched line becomes another one before it is read back is not published.
func TestCopyChanged(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	text := damagedCorpus(t, 1)
	for _, part := range []float64{0.1, 0.5, 0.99} {
		dir := t.TempDir()
		path, output := filepath.Join(dir, "session.jsonl"), filepath.Join(dir, "out.jsonl")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		changed := 0
		publish.ObserveSteps(func(step string) {
			made, err := filepath.Glob(filepath.Join(dir, ".hist-*.tmp"))
			if step != "flushed" || err != nil || len(made) != 1 {
				return
			}
			copied, err := os.ReadFile(made[0])
			if err != nil {
				t.Error(err)
			}
			from := int(part * float64(len(copied)))
			at := bytes.Index(copied[from:], []byte(`"text":"`)) + from + len(`"text":"`)
			copied[at] ^= 'a' ^ 'b'
			if err := os.WriteFile(made[0], copied, 0o600); err != nil {
				t.Error(err)
			}
			changed++
		})
		t.Cleanup(func() { publish.ObserveSteps(nil) })
		_, err := Do(t.Context(), Job{Path: path, Mode: ToFile, Output: output})
		if changed != 1 || !errors.Is(err, ErrVerify) {
			t.Errorf("%d changes: %v", changed, err)
		}
		if _, err := os.Stat(output); err == nil {
			t.Error("there is a copy")
		}
	}
}
