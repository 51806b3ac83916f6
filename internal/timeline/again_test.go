package timeline

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestAppendedAgain: a client that compacts a second time may append the session's first records again, byte for byte. They are no
// new turns: the last one is that which stands in front of them, however much of them there is.
func TestAppendedAgain(t *testing.T) {
	const session = "7c1f0b1e-5a0e-4d53-9a6b-0f5d3f6f2a11"
	at := 0
	line := func(typ, members, content string) string {
		at++
		return fmt.Sprintf(`{"parentUuid":null,"isSidechain":false,"cwd":"/p","sessionId":%q,"version":"2.1.332","type":%q,%s,"uuid":"11111111-1111-4111-8111-%012d","timestamp":"2026-11-20T10:00:%02d.000Z"}`+"\n",
			session, typ, fmt.Sprintf(members, content), at, at)
	}
	said := func(role, content string) string {
		return line(role, `"message":{"role":"`+role+`","content":[{"type":"text","text":"%s"}]}`, content)
	}
	mark := func() string {
		return line("system", `"subtype":"compact_boundary","content":"%s"`, "Conversation compacted")
	}
	for _, long := range []int{10, firstTail} {
		at = 0
		old := said("user", "read the list") + said("assistant", strings.Repeat("a", long)) + said("user", "and the next one")
		text := old + said("assistant", "there is none") + mark() + said("user", "go on") + said("assistant", "done") + old + mark()
		path := filepath.Join(t.TempDir(), session+".jsonl")
		write(t, path, []byte(text))
		s := look(t, path, LookOptions{Content: true})
		if s.Turn.State != Completed || s.Turn.Prompt.Text != "go on" || !s.Turn.Prompt.Answered {
			t.Errorf("with an answer of %d bytes, the last turn is %s, and its prompt %q", long, s.Turn.State, s.Turn.Prompt.Text)
		}
		turns := 0
		err := Read(t.Context(), strings.NewReader(text), Options{}, func(e *Entry) error {
			if e.Kind == TurnStart {
				turns++
			}
			return nil
		})
		if err != nil || turns != 3 {
			t.Errorf("%d turns, want 3: %v", turns, err)
		}
	}
}
