package clienttest

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/api"
)

// Breaches names the published rules of the Messages API that a request breaks, each once, in order of their names. An
// empty list means that the API would take the conversation.
func Breaches(request []byte) []string {
	v := &validator{calls: map[string]bool{}}
	if surrogate(request) {
		v.breach("lone-surrogate")
	}
	messages := gjson.GetBytes(request, "messages").Array()
	if len(messages) == 0 {
		v.breach("no-messages")
	}
	for i, m := range messages {
		v.message(m, i == len(messages)-1)
	}
	v.unanswered()
	slices.Sort(v.found)
	return slices.Compact(v.found)
}

type validator struct {
	found []string
	calls map[string]bool // every id of a call so far
	open  []string        // the calls of the last assistant message
	role  string          // of the message before
}

func (v *validator) breach(rule string) { v.found = append(v.found, rule) }

// unanswered: every call of an answer has its result in the message behind it.
func (v *validator) unanswered() {
	if len(v.open) > 0 {
		v.breach("tool-use-unanswered")
	}
	v.open = nil
}

func (v *validator) message(m gjson.Result, last bool) {
	role, content := m.Get("role").String(), m.Get("content")
	if role == "system" {
		return
	}
	if role != "user" && role != "assistant" {
		v.breach("role")
	}
	if role == "assistant" && v.role != "assistant" {
		v.unanswered()
	}
	v.role = role
	if content.Type == gjson.String {
		if content.String() == "" {
			v.breach("empty-content")
		} else if strings.TrimSpace(content.String()) == "" {
			v.breach("blank-text")
		}
		if role == "user" {
			v.unanswered()
		}
		return
	}
	blocks := content.Array()
	if !content.IsArray() || len(blocks) == 0 && !(last && role == "assistant") {
		v.breach("empty-content")
	}
	answered := map[string]bool{}
	texts := false
	for _, b := range blocks {
		kind := b.Get("type").String()
		if kind == "tool_result" {
			if texts {
				v.breach("result-not-first")
			}
			v.result(b, role, answered)
			continue
		}
		texts = texts || role == "user"
		v.block(b, kind, role)
	}
	if role == "user" {
		v.open = slices.DeleteFunc(v.open, func(id string) bool { return answered[id] })
		v.unanswered()
	}
}

// listed are what the tables say is wrong with a block.
func (v *validator) listed(b gjson.Result) {
	for _, f := range api.Check([]byte(b.Raw), "anthropic", "") {
		v.breach(b.Get("type").String() + "-" + f.Path)
	}
}

// signed says whether a signature is one that a stand-in gave to this thinking, whose text may be kept back.
func signed(thinking, signature string) bool {
	if signature == ownSignature {
		return true
	}
	raw, err := base64.StdEncoding.DecodeString(signature)
	return err == nil && bytes.HasPrefix(raw, []byte("mocksig:")) && (thinking == "" || bytes.Contains(raw, fmt.Appendf(nil, ":%x:", sha256.Sum256([]byte(thinking)))))
}

func (v *validator) block(b gjson.Result, kind, role string) {
	v.keys(b, kind)
	switch kind {
	case "text":
		v.text(b.Get("text"))
	case "thinking":
		switch sig := b.Get("signature"); {
		case !sig.Exists():
			v.breach("signature-missing")
		case sig.String() == "":
			v.breach("signature-empty")
		case !signed(b.Get("thinking").String(), sig.String()):
			v.breach("signature-bad")
		}
		if !b.Get("thinking").Exists() {
			v.breach("thinking-missing")
		}
	case "tool_use":
		v.listed(b)
		id := b.Get("id").String()
		if v.calls[id] {
			v.breach("dup-tool-use")
		}
		v.calls[id] = true
		v.open = append(v.open, id)
		if role != "assistant" {
			v.breach("tool-use-role")
		}
	case "image":
		v.image(b.Get("source"))
	case "server_tool_use":
		v.listed(b)
	case "redacted_thinking", "document", "tool_search_tool_result", "web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result",
		"bash_code_execution_tool_result", "text_editor_code_execution_tool_result":
	default:
		v.breach("unknown-block")
	}
}

var blockKeys = map[string][]string{
	"text": {"type", "text", "cache_control", "citations"}, "thinking": {"type", "thinking", "signature"},
	"tool_use": {"type", "id", "name", "input", "cache_control", "caller"}, "image": {"type", "source", "cache_control"},
	"tool_result": {"type", "tool_use_id", "content", "is_error", "cache_control"},
}

func (v *validator) keys(b gjson.Result, kind string) {
	allowed, ok := blockKeys[kind]
	if !ok {
		return
	}
	b.ForEach(func(k, _ gjson.Result) bool {
		if !slices.Contains(allowed, k.String()) {
			v.breach("extra-key")
		}
		return true
	})
}

func (v *validator) text(t gjson.Result) {
	switch {
	case t.Type != gjson.String:
		v.breach("text-type")
	case t.String() == "":
		v.breach("empty-text")
	case strings.TrimSpace(t.String()) == "":
		v.breach("blank-text")
	}
}

func (v *validator) result(b gjson.Result, role string, answered map[string]bool) {
	v.keys(b, "tool_result")
	id := b.Get("tool_use_id").String()
	if role != "user" {
		v.breach("tool-result-role")
	}
	if !slices.Contains(v.open, id) {
		v.breach("tool-result-orphan")
	}
	if answered[id] {
		v.breach("dup-tool-result")
	}
	answered[id] = true
	content := b.Get("content")
	if b.Get("is_error").Bool() && (!content.Exists() || content.String() == "" || content.IsArray() && len(content.Array()) == 0) {
		v.breach("error-empty")
	}
	content.ForEach(func(_, c gjson.Result) bool {
		if content.IsArray() {
			v.block(c, c.Get("type").String(), role)
		}
		return true
	})
}

var magics = map[string][]string{
	"image/png": {"\x89PNG\r\n\x1a\n"}, "image/jpeg": {"\xff\xd8\xff"}, "image/gif": {"GIF87a", "GIF89a"}, "image/webp": {"RIFF"},
}

const maxImage = 5 << 20 // bytes of base64

func (v *validator) image(source gjson.Result) {
	if source.Get("type").String() != "base64" {
		return
	}
	starts, ok := magics[source.Get("media_type").String()]
	if !ok {
		v.breach("image-type")
		return
	}
	text := source.Get("data").String()
	data, err := base64.StdEncoding.DecodeString(text)
	switch {
	case err != nil || len(data) == 0:
		v.breach("image-data")
	case !slices.ContainsFunc(starts, func(s string) bool { return strings.HasPrefix(string(data), s) }):
		v.breach("image-magic")
	case len(text) > maxImage:
		v.breach("image-size")
	case len(data) > 24 && starts[0][0] == 0x89 && (int(data[18])<<8|int(data[19]) > 8000 || int(data[22])<<8|int(data[23]) > 8000):
		v.breach("image-dim")
	}
}

var surrogates = regexp.MustCompile(`\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})`)

// surrogate says whether a JSON text holds an escaped half of a surrogate pair.
func surrogate(raw []byte) bool {
	for _, m := range surrogates.FindAllSubmatchIndex(raw, -1) {
		if m[2] >= 0 {
			return true
		}
	}
	return false
}
