package claude

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/jsonl"
)

// spelled returns the answer from which a client made a message by mistake, taking a text for an object: each UTF-16 unit of
// the text became a member named for its index, and the content an empty list. This was reported of clients of February 2026
// that fell back from a broken stream to a whole answer. For any other message it returns nil.
func spelled(message []byte) []byte {
	letters, next := []byte{'"'}, 0
	gjson.ParseBytes(message).ForEach(func(place, letter gjson.Result) bool {
		if place.String() != strconv.Itoa(next) || letter.Type != gjson.String {
			return false
		}
		letters = append(letters, letter.Raw[1:len(letter.Raw)-1]...)
		next++
		return true
	})
	if next == 0 {
		return nil
	}
	answer, _ := jsonl.Unquote(append(letters, '"'))
	var line bytes.Buffer
	if json.Compact(&line, []byte(answer)) != nil {
		return nil
	}
	if m := gjson.ParseBytes(line.Bytes()); m.Get("role").String() != "assistant" || len(m.Get("content").Array()) == 0 {
		return nil
	}
	return line.Bytes()
}
