package claude

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// proof is what a session tells of the requests that its client sent: for each message the SHA-256 of its canonical JSON.
// From 2.1.300 or so on; files of older versions have none.
type proof struct {
	sent map[string]session.Pos // hash of a message that was sent: where that is told first
}

func newProof() proof { return proof{sent: map[string]session.Pos{}} }

func (p *proof) blob(rec *session.Record) {
	p.note(string(text(rec, fieldHash)), rec.Pos)
}

func (p *proof) request(rec *session.Record) {
	gjson.ParseBytes(field(rec, fieldTail)).ForEach(func(_, h gjson.Result) bool {
		p.note(h.String(), rec.Pos)
		return true
	})
}

func (p *proof) note(hash string, at session.Pos) {
	if _, ok := p.sent[hash]; !ok && hash != "" {
		p.sent[hash] = at
	}
}

// proves says whether the client has sent this message.
func (p *proof) proves(role string, content []byte) bool {
	if len(p.sent) == 0 {
		return false
	}
	_, ok := p.sent[messageHash(role, content)]
	return ok
}

// messageHash is the hash by which the client names a message: its canonical JSON has sorted keys, no spaces, a list of
// blocks for content, and no cache_control.
func messageHash(role string, content []byte) string {
	v := gjson.ParseBytes(content)
	out := []byte(`{"content":`)
	if v.Type == gjson.String {
		out = append(out, `[{"text":`...)
		out = jsonl.AppendQuote(out, v.String())
		out = append(out, `,"type":"text"}]`...)
	} else {
		out = appendCanonical(out, v)
	}
	out = append(out, `,"role":`...)
	out = append(jsonl.AppendQuote(out, role), '}')
	sum := sha256.Sum256(out)
	return hex.EncodeToString(sum[:])
}

func appendCanonical(out []byte, v gjson.Result) []byte {
	switch {
	case v.IsArray():
		out = append(out, '[')
		first := true
		v.ForEach(func(_, e gjson.Result) bool {
			if !first {
				out = append(out, ',')
			}
			first = false
			out = appendCanonical(out, e)
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
	for _, key := range sortedKeys(members) {
		if key == "cache_control" {
			continue
		}
		if !first {
			out = append(out, ',')
		}
		first = false
		out = append(jsonl.AppendQuote(out, key), ':')
		out = appendCanonical(out, members[key])
	}
	return append(out, '}')
}

// promptOfBlob returns the user's own words from a message that the client kept: what stands in it beside reminders.
func promptOfBlob(message []byte) (string, bool) {
	v := gjson.ParseBytes(message)
	if v.Get("role").String() != "user" {
		return "", false
	}
	words, ok := "", true
	v.Get("content").ForEach(func(_, b gjson.Result) bool {
		if b.Get("type").String() != "text" {
			ok = false
			return false
		}
		if t := b.Get("text").String(); !strings.HasPrefix(strings.TrimSpace(t), "<system-reminder>") {
			ok = ok && words == ""
			words = t
		}
		return true
	})
	return words, ok && words != ""
}
