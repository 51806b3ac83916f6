package operate

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// TestRealClientsCutBetweenCalls: cut behind the first of two calls that were made at once, in a copy and in place, a session is resumed with what
// stands in front of the place, and with outputs that say that the calls were interrupted: those that the calls had are not sent again, although
// they stay in a file behind its place.
func TestRealClientsCutBetweenCalls(t *testing.T) {
	if testing.Short() {
		t.Skip("runs real clients; left out by -short")
	}
	for _, a := range agents {
		t.Run(a.name, func(t *testing.T) {
			t.Setenv("XDG_STATE_HOME", t.TempDir())
			path := recordings(t, a.name, strings.Replace(a.one, filepath.Base(a.one), "clean", 1))[0]
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			c := a.client(t).(looker)
			whole, _, err := c.requests(t, path)
			if err != nil {
				t.Fatal(err)
			}
			at, call := parallelCall(string(text))
			for _, way := range [][]string{{}, {"-i"}, {"-i", "--purge"}} {
				file := written(t, filepath.Base(path), text)
				args := append([]string{"cut", "--at", at, file}, way...)
				if len(way) == 0 {
					args = append(args, "-o", filepath.Join(t.TempDir(), filepath.Base(path)))
				}
				do(t, c, args...)
				if len(way) == 0 {
					file = args[len(args)-1]
				}
				first, next, err := c.requests(t, file)
				if err != nil {
					t.Fatal(err)
				}
				for n, said := range [][]string{first, next} {
					if err := cutBehind(call, whole, said); err != nil {
						t.Errorf("cut %v: request %d: %v", way, n+1, err)
					}
				}
			}
		})
	}
}

// cutBehind: said begins as the whole does up to a call, and then holds no answer and no output of the whole, but says that the call was interrupted.
func cutBehind(call string, whole, said []string) error {
	apart := func(part string) bool { return strings.HasPrefix(part, "tools ") || strings.HasPrefix(part, "system ") } // a snapshot of them may be cut
	whole, said = slices.DeleteFunc(slices.Clone(whole), apart), slices.DeleteFunc(slices.Clone(said), apart)
	same := 0
	for same < min(len(whole), len(said)) && whole[same] == said[same] {
		same++
	}
	if !strings.Contains(strings.Join(said[:same], ""), call) {
		return fmt.Errorf("what is sent in front of the call differs:\n  %.300s\n  %.300s", at(whole, same), at(said, same))
	}
	for _, part := range whole[same:] {
		v := gjson.Parse(part[max(0, strings.IndexByte(part, '{')):])
		if (v.Get("role").String() == "assistant" || strings.HasPrefix(part, "assistant ") || strings.Contains(v.Get("type").String(), "_output") || v.Get("type").String() == "tool_result") && slices.Contains(said[same:], part) {
			return fmt.Errorf("what was cut is sent: %.300s", part)
		}
	}
	if rest := strings.Join(said[same:], ""); !strings.Contains(rest, "interrupted") && !strings.Contains(rest, "aborted") {
		return errors.New("nothing says that the call was interrupted")
	}
	return nil
}

// parallelCall is the id of the first of two calls that were made at once, and by which a cut behind it is asked for.
func parallelCall(text string) (at, call string) {
	for line := range strings.Lines(text) {
		p, block := gjson.Get(line, "payload"), gjson.Get(line, "message.content.0")
		switch {
		case p.Get("type").String() == "function_call", block.Get("type").String() == "tool_use":
			if at != "" {
				return at, call
			}
			at, call = p.Get("id").String()+gjson.Get(line, "uuid").String(), p.Get("call_id").String()+block.Get("id").String()
		case p.Get("type").String() == "function_call_output", block.Get("type").String() == "tool_result":
			at = ""
		}
	}
	return "", ""
}
