package lint

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"

	"github.com/hist-cli/hist/internal/testkit/testfile"
)

// TestMislabelledImage: that an address names another type is a note for a client that passes it on, and --tidy names
// the right one.
func TestMislabelledImage(t *testing.T) {
	text := readFixture(t, filepath.Join(fixtures, "codex", "rules", "bad-image", "ok.jsonl"))
	wrong := bytes.ReplaceAll(text, []byte("data:image/png;"), []byte("data:image/webp;"))
	if bytes.Equal(text, wrong) {
		t.Fatal("another fixture")
	}
	res, err := Session(context.Background(), bytes.NewReader(wrong), Options{For: map[string]string{"codex": "0.144.0"}})
	if err != nil || len(res.Findings) != 1 || res.Findings[0].Rule != FindRule("bad-image") || res.Findings[0].Impact != Notes {
		t.Fatalf("%v\n%s", err, testfile.Findings(res.Findings))
	}
	edits := res.Findings[0].Edits
	if len(edits) != 1 || len(edits[0].Cuts) != 1 || string(edits[0].Cuts[0].New) != "data:image/png;base64" {
		t.Errorf("%+v", edits)
	}
}

// TestManyBadImages: thousands of them in one message take no more than their share of the time; with a search from the
// message's start for each, this test would take a minute.
func TestManyBadImages(t *testing.T) {
	text := readFixture(t, filepath.Join(fixtures, "codex", "rules", "bad-image", "ok.jsonl"))
	part := []byte(`{"type":"input_image","image_url":"data:image/png;base64,.."}`)
	at := bytes.Index(text, []byte(`{"type":"input_image"`))
	many := append(bytes.Clone(text[:at]), bytes.Repeat(append(bytes.Clone(part), ','), 1<<14)...)
	many = append(many, text[at:]...)
	res, err := Session(context.Background(), bytes.NewReader(many), Options{})
	if err != nil || len(res.Findings) != 1<<14 {
		t.Fatalf("%v, %d findings", err, len(res.Findings))
	}
	last := res.Findings[len(res.Findings)-1].Edits[0].Cuts[0]
	if line := bytes.Split(many, []byte("\n"))[res.Findings[0].Pos.Line-1]; !bytes.Equal(line[last.Start:last.End], part) {
		t.Errorf("the last edit is not about the last image: %s", line[last.Start:last.End])
	}
}
