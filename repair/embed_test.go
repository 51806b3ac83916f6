package repair

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestEmbed builds the example of a program in another module, which uses lint and repair and no internal type, and mends
// a session with it.
func TestEmbed(t *testing.T) {
	if testing.Short() {
		t.Skip("links a program")
	}
	bin := filepath.Join(t.TempDir(), "embed")
	build := exec.Command("go", "build", "-mod=mod", "-o", bin, ".")
	build.Dir, build.Env = "../examples/embed", append(os.Environ(), "GOWORK=off") // as it is anywhere else
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := exec.Command(bin, "../fixtures/codex/rules/call-without-output/bad.jsonl")
	var told bytes.Buffer
	run.Stderr = &told
	mended, err := run.Output()
	if err != nil || !strings.Contains(told.String(), "[call-without-output]") {
		t.Fatalf("%v\n%s", err, told.String())
	}
	if again := lintText(t, mended, ""); mendable(again, Choice{}) != nil {
		t.Errorf("something is left:\n%s", listed(again))
	}
}
