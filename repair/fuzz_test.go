package repair

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/normalize"
	"github.com/hist-cli/hist/internal/testkit/damage"
	"github.com/hist-cli/hist/lint"
)

// frame is what the Framer says of one record.
type frame struct {
	line, part   int64
	offset, size int64
	raw          string
}

func frames(t *testing.T, text []byte, mend func(*lint.Finding) bool) (list []frame, end int64, enc normalize.Encoding) {
	t.Helper()
	f := normalize.New(bytes.NewReader(text), normalize.Options{Decoder: codex.Decoder{}, Mend: mend})
	for {
		rec, err := f.Next()
		if errors.Is(err, io.EOF) {
			return list, f.Offset(), f.Encoding()
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, frame{rec.Pos.Line, int64(rec.Pos.Part), rec.Offset, rec.Size, string(rec.Raw)})
	}
}

// FuzzFraming: the same bytes give the same records twice, and every byte of the file belongs to exactly one line, or
// joined lines, that records come from.
func FuzzFraming(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, mend := range []func(*lint.Finding) bool{nil, func(*lint.Finding) bool { return true }, func(*lint.Finding) bool { return false }} {
			one, end, enc := frames(t, text, mend)
			two, _, _ := frames(t, text, mend)
			if len(one) != len(two) {
				t.Fatalf("%d records, then %d", len(one), len(two))
			}
			next := int64(0)
			for i := range one {
				if one[i] != two[i] {
					t.Fatalf("record %d: %+v, then %+v", i, one[i], two[i])
				}
				if one[i].part > 0 && i > 0 && one[i].line == one[i-1].line {
					if one[i].offset != one[i-1].offset || one[i].size != one[i-1].size {
						t.Fatalf("two records of line %d stand on other bytes: %+v, %+v", one[i].line, one[i-1], one[i])
					}
					continue
				}
				if one[i].offset != next {
					t.Fatalf("line %d begins at byte %d, the one before ended at %d", one[i].line, one[i].offset, next)
				}
				next = one[i].offset + one[i].size
			}
			if next != end || enc == normalize.UTF8 && end != int64(len(text)) {
				t.Fatalf("the lines end at byte %d, the framer at %d, the file at %d", next, end, len(text))
			}
		}
	})
}

// FuzzRepair feeds any bytes to lint and repair: the laws of repair hold for all of them, or it is refused by its own
// check and publishes nothing.
func FuzzRepair(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, c := range choices {
			err := laws(t, mutant{text: text, choice: c.choice, opts: lint.Options{Mend: c.choice.Allows}})
			if err != nil && !errors.Is(err, ErrVerify) && !errors.Is(err, lint.ErrUnclaimed) {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	})
}

// seeds are small damaged sessions: a few lines around each damage.
func seeds(f *testing.F) {
	f.Helper()
	for _, seed := range []string{
		"", "\n", "\ufeff", "\xff\xfe{\x00}\x00", "{\x00\"\x00", "\x00{\x00\"", "{}\n\x00\x00\n", "{}{}\n", "[]\n17\nnull",
		"{\"timestamp\":\"t\",\"type\":\"a\",\"payl{\"timestamp\":\"t\",\"type\":\"b\",\"payload\":{}}\n",
		"{\"timestamp\":\"t\",\"type\":\"a\",\"payload\":{\"x\":\"a\nb\"}}\n",
		"{\"record_type\":\"state\"}\n",
	} {
		f.Add([]byte(seed))
	}
	for name, text := range recordings(f) {
		if !bytes.Contains([]byte(name), []byte("/clean/")) {
			f.Add(text[:min(len(text), 4096)])
			continue
		}
		cases := damage.Cases(text)
		for i := 0; i < len(cases); i += 97 {
			data := cases[i].Data
			f.Add(data[:min(len(data), 6000)])
		}
	}
}
