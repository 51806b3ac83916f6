package source

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// TestOpenLazily: what is not opened at first reads as what is, and only regular files under their own names are taken.
func TestOpenLazily(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	text := bytes.Repeat([]byte("{\"type\":\"a\"}\n"), 1000)
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	plain, packed, misnamed := filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "b.jsonl.zst"), filepath.Join(dir, "c.jsonl")
	for path, bytes := range map[string][]byte{plain: text, packed: enc.EncodeAll(text, nil), misnamed: enc.EncodeAll(text, nil)} {
		if err := os.WriteFile(path, bytes, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{plain, packed, misnamed} {
		s, want := OpenLazily(path), open(t, path)
		if s == nil || s.Real != want.Real || s.Name != want.Name || s.Size() != want.Size() || !os.SameFile(s.Info, want.Info) {
			t.Fatalf("%+v, want %+v", s, want)
		}
		got, err := s.Extract(t.Context(), []Ref{{Offset: 13, Length: 12}})
		if err != nil || string(got[0]) != `{"type":"a"}` || s.Compressed != want.Compressed || s.Magic != want.Magic {
			t.Errorf("%s: %q, %v", path, got, err)
		}
		r, err := OpenLazily(path).Reader(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if all, err := io.ReadAll(r); errors.Is(err, ErrMisnamed) != (path == misnamed) || !bytes.Equal(all, text) {
			t.Errorf("%s: %d bytes, %v", path, len(all), err)
		}
		r.Close()
	}
	s := OpenLazily(plain)
	if err := os.Truncate(plain, 10); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Reader(t.Context()); !errors.Is(err, ErrChanged) {
		t.Error(err)
	}
	os.Symlink(packed, filepath.Join(dir, "link.jsonl")) //nolint:errcheck // where there are none it is not there, which is nil, too
	for _, path := range []string{filepath.Join(dir, "link.jsonl"), dir, filepath.Join(dir, "gone.jsonl")} {
		if s := OpenLazily(path); s != nil {
			t.Errorf("%s: %+v", path, s)
		}
	}
}
