package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hist-cli/hist/testing/codex/clienttest"
)

func TestErrorLine(t *testing.T) {
	const stderr = "user\nhello\n2026-01-01T00:00:00.0Z ERROR core::util: Orphan output\nError: thread/resume failed\nCaused by: x\n"
	if got := errorLine(stderr); got != "Error: thread/resume failed" {
		t.Errorf("%q", got)
	}
	if got := errorLine("one\ntwo\n"); got != "two" {
		t.Errorf("%q", got)
	}
	if got := logLines(stderr); !slices.Equal(got, []string{"ERROR core::util: Orphan output"}) {
		t.Errorf("%q", got)
	}
}

func TestUsage(t *testing.T) {
	t.Setenv(clienttest.DirVar, t.TempDir())
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "usage: resume"},
		{[]string{"-j", "0", "x"}, "usage: resume"},
		{[]string{"-version", "0.1.2", "x"}, "npm install --prefix .codex-bin/0.1.2"},
	} {
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), c.args, &stdout, &stderr); code != 2 || !strings.Contains(stderr.String(), c.want) {
			t.Errorf("%v: exit %d, %s", c.args, code, &stderr)
		}
	}
}

// A file as recorded has all of its items sent; one whose last output is gone
// has it sent as aborted; one without a header is refused.
func TestMeasure(t *testing.T) {
	versions := clienttest.Versions()
	if len(versions) == 0 {
		_, err := clienttest.Find("")
		t.Skip(err)
	}
	bin, err := clienttest.Find(versions[len(versions)-1])
	if err != nil {
		t.Fatal(err)
	}
	h, err := clienttest.NewHome(t.TempDir(), bin)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	rec, err := clienttest.Record(t.Context(), h, "clean")
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(rec.Rollout)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(data, []byte("\n"))
	var without []byte
	for _, l := range lines {
		if !bytes.Contains(l, []byte(`_output","`)) || !bytes.Contains(l, []byte(`"call_id":"call_2"`)) {
			without = append(without, l...)
		}
	}
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name, filepath.Base(rec.Rollout))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	files := []string{write("same", data), write("without", without), write("headless", bytes.Join(lines[1:], nil))}
	var stdout, stderr bytes.Buffer
	args := append([]string{"-homes", t.TempDir(), "-clean", rec.Rollout}, files...)
	if code := run(t.Context(), args, &stdout, &stderr); code != 0 {
		t.Fatalf("exit %d: %s", code, &stderr)
	}
	var got []report
	dec := json.NewDecoder(&stdout)
	for dec.More() {
		var r report
		if err := dec.Decode(&r); err != nil {
			t.Fatal(err)
		}
		got = append(got, r)
	}
	if len(got) != 3 {
		t.Fatalf("%+v", got)
	}
	if r := got[0]; !r.Resumed || r.File != files[0] || *r.CleanSent != *r.CleanItems || !*r.OrderKept || *r.Aborted != 0 {
		t.Errorf("same: %+v", r)
	}
	if r := got[1]; !r.Resumed || *r.CleanSent != *r.CleanItems-1 || *r.Aborted != 1 {
		t.Errorf("without: %+v", r)
	}
	if r := got[2]; r.Resumed || r.Exit == 0 || r.Error == "" || r.CleanItems != nil {
		t.Errorf("headless: %+v", r)
	}
}
