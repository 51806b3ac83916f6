package corpus

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/hist-cli/hist/lint"
)

// same is a writer that takes what was written before, and nothing else.
type same struct{ rest []byte }

func (s *same) Write(p []byte) (int, error) {
	if !bytes.HasPrefix(s.rest, p) {
		return 0, errors.New("something else")
	}
	s.rest = s.rest[len(p):]
	return len(p), nil
}

// TestCorpus: sessions lint clean, the same seed gives the same bytes, and lines are as long as those of real sessions.
func TestCorpus(t *testing.T) {
	for _, o := range []Options{
		{Size: 4 << 20, Seed: 1}, {Size: 4 << 20, Seed: 2, Paginated: true}, {Size: 120 << 20, Seed: 3, Paginated: true, Images: true},
	} {
		if o.Images && testing.Short() {
			continue
		}
		var one bytes.Buffer
		one.Grow(int(o.Size) * 5 / 4) // growing copies it again and again
		if err := Write(&one, o); err != nil {
			t.Fatal(err)
		}
		two := same{one.Bytes()}
		if err := Write(&two, o); err != nil || len(two.rest) > 0 {
			t.Errorf("%+v: not the same twice (%v)", o, err)
		}
		res, err := lint.Session(context.Background(), bytes.NewReader(one.Bytes()), lint.Options{})
		if err != nil || len(res.Findings) > 0 {
			t.Fatalf("%+v: %v, %d findings, the first: %+v", o, err, len(res.Findings), res.Findings[:min(1, len(res.Findings))])
		}
		var lengths []int
		for l := range bytes.Lines(one.Bytes()) {
			if bytes.Contains(l[:min(len(l), 300)], []byte(`_output"`)) {
				lengths = append(lengths, len(l))
			}
		}
		slices.Sort(lengths)
		if n := len(lengths); lengths[n/2] < 900 || lengths[n/2] > 2500 || lengths[n*99/100] < 12000 || lengths[n*99/100] > 40000 {
			t.Errorf("%+v: outputs of %d, %d bytes in the middle and at 99 %%", o, lengths[n/2], lengths[n*99/100])
		}
		if images := bytes.Count(one.Bytes(), []byte("data:image/png")); o.Images != (images == 4) {
			t.Errorf("%+v: %d images", o, images)
		}
	}
}

// TestClaude: the same of Claude Code's, the records of which are a chain.
func TestClaude(t *testing.T) {
	var one, two bytes.Buffer
	for _, to := range []*bytes.Buffer{&one, &two} {
		if err := WriteClaude(to, Options{Size: 1 << 20, Seed: 1, Text: 50}); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(one.Bytes(), two.Bytes()) {
		t.Error("not the same twice")
	}
	res, err := lint.Session(context.Background(), bytes.NewReader(one.Bytes()), lint.Options{})
	if err != nil || res.Summary.Agent != "claude" || len(res.Findings) > 0 {
		t.Fatalf("%v, %+v", err, res)
	}
	if n := int64(bytes.Count(one.Bytes(), []byte{'\n'})); res.Summary.Records != n || one.Len()/int(n) < 700 || one.Len()/int(n) > 900 {
		t.Errorf("%d records of %d lines, %d bytes", res.Summary.Records, n, one.Len())
	}
}
