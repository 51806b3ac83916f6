package evidence

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/jsonl"
)

// Digest is a SHA-256 by which a client names a message.
type Digest [sha256.Size]byte

// DigestOf reads a hash from the file. For text that is not a hash it returns a digest that no message has.
func DigestOf(hash []byte) (d Digest) {
	if len(hash) == hex.EncodedLen(len(d)) {
		if _, err := hex.Decode(d[:], hash); err == nil {
			return d
		}
	}
	return sha256.Sum256(append([]byte("no hash: "), hash...))
}

// MessageHash is the hash by which the client names a message, in hexadecimal as the client writes it.
func MessageHash(role string, content []byte) string {
	d := DigestOfMessage(role, content)
	return hex.EncodeToString(d[:])
}

// DigestOfMessage is the hash by which the client names a message: that of its canonical JSON, with sorted keys, no spaces, a
// list of blocks as content, and no cache_control.
func DigestOfMessage(role string, content []byte) Digest {
	v := gjson.ParseBytes(content)
	out := []byte(`{"content":`)
	if v.Type == gjson.String {
		out = append(out, `[{"text":`...)
		out = jsonl.AppendQuote(out, v.String())
		out = append(out, `,"type":"text"}]`...)
	} else {
		out = AppendCanonical(out, v)
	}
	out = append(out, `,"role":`...)
	out = append(jsonl.AppendQuote(out, role), '}')
	return sha256.Sum256(out)
}

// AppendCanonical adds a JSON value in the form that requests are hashed in: without spaces, members sorted.
func AppendCanonical(out []byte, v gjson.Result) []byte {
	switch {
	case v.IsArray():
		out = append(out, '[')
		first := true
		v.ForEach(func(_, e gjson.Result) bool {
			if !first {
				out = append(out, ',')
			}
			first = false
			out = AppendCanonical(out, e)
			return true
		})
		return append(out, ']')
	case v.IsObject():
		return appendObject(out, v)
	case v.Type == gjson.String:
		return jsonl.AppendQuote(out, v.String())
	}
	return append(out, v.Raw...)
}

func appendObject(out []byte, v gjson.Result) []byte {
	members := v.Map()
	out = append(out, '{')
	first := true
	for _, key := range slices.Sorted(maps.Keys(members)) {
		if key == "cache_control" {
			continue
		}
		if !first {
			out = append(out, ',')
		}
		first = false
		out = append(jsonl.AppendQuote(out, key), ':')
		out = AppendCanonical(out, members[key])
	}
	return append(out, '}')
}

// ContentBlocks are the blocks of a message's content. A text alone counts as one text block, as it does for the hash of the message.
func ContentBlocks(content gjson.Result) []gjson.Result {
	if content.Type == gjson.String {
		return []gjson.Result{gjson.ParseBytes(format.Object{"type": "text", "text": content.Str}.JSON())}
	}
	return content.Array()
}

// PromptsOfBlob returns what a message that the client has recorded whole may hold of the user's own words: its texts but for what the
// client writes by itself, the last first. The client sends what nobody has answered in between as one message. There are none if it holds
// more than texts.
func PromptsOfBlob(message []byte) (words []string) {
	v := gjson.ParseBytes(message)
	if v.Get("role").Str != "user" {
		return nil
	}
	for _, b := range slices.Backward(ContentBlocks(v.Get("content"))) {
		t := b.Get("text")
		if b.Get("type").Str != "text" {
			return nil
		}
		if trimmed := strings.TrimSpace(t.Str); trimmed != "" && !strings.HasPrefix(trimmed, "<system-reminder>") && !format.AsksNothing([]byte(t.Raw)) {
			words = append(words, t.Str)
		}
	}
	return words
}
