package main

import (
	"flag"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/hist-cli/hist/testing/codex/clienttest"
)

var update = flag.Bool("update", false, "write docs/demo.svg anew")

const picture = "../../docs/demo.svg"

// TestDemoIsTodays plays the demo with the real client: the picture in the README is what it and hist print today.
func TestDemoIsTodays(t *testing.T) {
	if _, err := clienttest.Find(version); err != nil {
		t.Skip(err)
	}
	today, err := play(t.Context(), t.TempDir(), "../..")
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(picture, []byte(today), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(picture)
	if err != nil {
		t.Fatal(err)
	}
	now := strings.Split(today, "\n")
	for i, line := range strings.Split(string(kept), "\n") {
		if i >= len(now) || line != now[i] {
			t.Fatalf("docs/demo.svg is not what is printed today; write it with go test ./testing/demo -update, and look at it. Line %d:\n%s\n%s", i+1, line, now[min(i, len(now)-1)])
		}
	}
}

// TestPicture: its first frame is not blank, and it takes about half a minute.
func TestPicture(t *testing.T) {
	kept, err := os.ReadFile(picture)
	if err != nil {
		t.Fatal(err)
	}
	lines := regexp.MustCompile(`(?m)^<text.*`).FindAllString(string(kept), -1)
	if len(lines) == 0 || !strings.HasPrefix(lines[0], "<text x=") || !strings.Contains(lines[0], "codex exec") {
		t.Fatalf("the first frame: %s", lines)
	}
	m := regexp.MustCompile(`animation-delay:([0-9.]+)s`).FindStringSubmatch(lines[len(lines)-1])
	if m == nil {
		t.Fatal(lines[len(lines)-1])
	}
	if last, err := strconv.ParseFloat(m[1], 64); err != nil || last < 20 || last > 30 {
		t.Errorf("the last line appears after %s s", m[1])
	}
}
