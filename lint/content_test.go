package lint

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"
)

// TestMislabelledImage: that an address names another type is a note, and --tidy names the right one.
func TestMislabelledImage(t *testing.T) {
	text := readFixture(t, filepath.Join(fixtures, "rules", "bad-image", "ok.jsonl"))
	wrong := bytes.ReplaceAll(text, []byte("data:image/png;"), []byte("data:image/webp;"))
	if bytes.Equal(text, wrong) {
		t.Fatal("another fixture")
	}
	res, err := Session(context.Background(), bytes.NewReader(wrong), Options{})
	if err != nil || len(res.Findings) != 1 || res.Findings[0].Rule != ruleBadImage || res.Findings[0].Impact != Notes {
		t.Fatalf("%v\n%s", err, listed(res))
	}
	edits := res.Findings[0].Edits
	if len(edits) != 1 || len(edits[0].Cuts) != 1 || string(edits[0].Cuts[0].New) != "png" {
		t.Errorf("%+v", edits)
	}
}
