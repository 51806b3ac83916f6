//go:build unix

package relay

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestStay: a relay that is the client's parent hands on every byte and the exit code, and looks before the client reads.
func TestStay(t *testing.T) {
	var asked [][]string
	looker := newAsker()
	looker.run = func(_ context.Context, args []string) error {
		asked = append(asked, args)
		return nil
	}
	message := `{"id":1,"method":"thread/resume","params":{"threadId":"` + a + `"}}` + "\n"
	said := strings.Repeat(message, 3) + strings.Repeat("x", 2*MaxMessage) + "\n\x00 no JSON, and no newline"
	out, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	code, err := stay(looker, exec.Command("sh", "-c", "cat; exit 7"), io.NopCloser(strings.NewReader(said)), out)
	if err != nil || code != 7 {
		t.Errorf("exit code %d, %v", code, err)
	}
	if got, err := os.ReadFile(out.Name()); err != nil || !bytes.Equal(got, []byte(said)) {
		t.Errorf("%d bytes came back of %d: %v", len(got), len(said), err)
	}
	if len(asked) != 1 || asked[0][len(asked[0])-1] != a {
		t.Errorf("asked for %q", asked)
	}
	if _, err := stay(newAsker(), exec.Command("/no/such/client"), io.NopCloser(strings.NewReader("")), out); err == nil {
		t.Error("a client that is not there was run")
	}
}
