package home

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestNamed(t *testing.T) {
	const a, b = "01a1fa85-bfc3-74d1-9684-43a82083e7d1", "01A1FA85-897F-7B72-87B7-F6EBDE981289"
	home := t.TempDir()
	if ids, err := Named(home, "x"); ids != nil || err != nil {
		t.Error(ids, err) // a home without names
	}
	line := func(id, name string) string {
		return fmt.Sprintf("{\"id\":%q,\"thread_name\":%q,\"updated_at\":\"\"}\n", id, name)
	}
	text := line(a, "first") + line(b, "both") + "no JSON\n" + `{"id":"` + a + `","thread_name":"` + strings.Repeat("x", maxNameLine) + "\"}\n" +
		line("../../etc", "first") + line(a, "both") + line(a, "my task") + line(b, "torn")[:20]
	if err := os.WriteFile(filepath.Join(home, namesFile), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]string{"first": nil, "both": {strings.ToLower(b)}, "my task": {a}, "my": nil, "": nil, "torn": nil} {
		if ids, err := Named(home, name); !slices.Equal(ids, want) || err != nil {
			t.Errorf("%q: %v, %v", name, ids, err)
		}
	}
	if err := os.WriteFile(filepath.Join(home, namesFile), []byte(text+"\n"+line(b, "my task")), 0o600); err != nil {
		t.Fatal(err)
	}
	if ids, err := Named(home, "my task"); !slices.Equal(ids, []string{a, strings.ToLower(b)}) || err != nil {
		t.Error(ids, err)
	}
}

// TestNamedAtTheEnd: of a file of names that is far too large the newest are read.
func TestNamedAtTheEnd(t *testing.T) {
	const id = "01a1fa85-bfc3-74d1-9684-43a82083e7d1"
	home := t.TempDir()
	path := filepath.Join(home, namesFile)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	fmt.Fprintf(f, "{\"id\":%q,\"thread_name\":\"old\"}\n", id)
	if _, err := f.Seek(4*maxNames, 0); err != nil {
		t.Skip(err)
	}
	fmt.Fprintf(f, "\n{\"id\":%q,\"thread_name\":\"new\"}\n", id)
	for name, want := range map[string]int{"old": 0, "new": 1} {
		if ids, err := Named(home, name); err != nil || len(ids) != want {
			t.Errorf("%s: %q, %v", name, ids, err)
		}
	}
}
