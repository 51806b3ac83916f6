package evidence

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// Echo is a prompt's text in a record other than the prompt's own.
type Echo struct {
	Told     string // the text; to be read with words
	Source   string
	Leaf     string // the end of the session, as the echo's last-prompt record names it; "" if it names none
	Session  string // that wrote it; "" if it does not say so
	Hash     string // of the whole message that holds the words, if it was recorded as it was sent
	At       session.Pos
	When     int64 // the record's time, in milliseconds since 1970; 0 if it has none
	Left     int64 // the line on which the client notes that a turn begins with it, if it waited; 0 if none does
	Late     bool  // it is written after the prompt itself, not before
	Last     bool  // it is a last-prompt record, whose text is still a quoted JSON string: few are ever asked for
	Waits    bool  // the prompt waits for the end of a turn, as far as the file tells
	Unqueued bool  // it waited, and was taken back, or sent along with an output
}

// Words are what the prompt says.
func (e *Echo) Words() string {
	if !e.Last {
		return e.Told
	}
	words, _ := jsonl.Unquote([]byte(e.Told))
	return words
}

// Shortened says whether the client has cut off the end of a prompt in an echo, given the echo's quoted JSON string.
func Shortened(quoted []byte) bool {
	words := quoted[1 : len(quoted)-1]
	if escaped := []byte(`\u`); bytes.Contains(words[max(0, len(words)-len(`\u002e\u002e\u002e`)):], escaped) {
		whole, _ := jsonl.Unquote(quoted)
		words = []byte(whole)
	}
	return bytes.HasSuffix(words, []byte("…")) || bytes.HasSuffix(words, []byte("..."))
}

// EnqueuedIn is the prompt in the remains of a queue-operation record; "" if it is not whole.
func EnqueuedIn(raw []byte) string {
	const start = `"content":"`
	at := bytes.Index(raw, []byte(start))
	if at < 0 || !bytes.Contains(raw[:at], []byte(`"operation":"enqueue"`)) {
		return ""
	}
	var words string
	if json.Unmarshal(valueAt(raw[at+len(start)-1:]), &words) != nil || AboutTask(words) {
		return ""
	}
	return words
}

// AboutTask says whether the client has put words into its queue only to show how a task in the background goes on: nobody is asked
// anything with them (seen in 2.1.19 and 2.1.45).
func AboutTask(words string) bool { return strings.HasPrefix(words, `{"task_id":"`) }

// treeStart is how a record of the tree begins; no other record does.
var treeStart = []byte(`{"parentUuid":`)

// BegunOnly says whether unreadable bytes are no more than the first bytes of a record of the tree, before its message.
func BegunOnly(raw []byte) bool {
	raw = bytes.TrimRight(raw, "\x00\r\n")
	const enough = len(`{"p`)
	return len(raw) >= enough && !bytes.Contains(raw, []byte(`"message"`)) && (bytes.HasPrefix(raw, treeStart) || bytes.HasPrefix(treeStart, raw))
}
