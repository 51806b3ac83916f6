package clienttest

import (
	"slices"
	"strings"
	"testing"

	"github.com/hist-cli/hist/lint"
)

// TestFlippedBits: a wrong bit in any key without which a client does not find what it needs is named, and turned back if anything is
// lost by it.
func TestFlippedBits(t *testing.T) {
	at := `,"timestamp":"2026-01-20T10:00:00.000Z"`
	block := func(b string) string {
		return line("assistant", "a1", "u1", partly("m1", b, "end_turn"), at)
	}
	prompt := line("user", "u1", "", asked("hi"), at)
	for name, c := range map[string]struct{ record, keys string }{
		"a prompt":    {line("user", "u2", "a2", asked("go on"), at), "uuid parentUuid message timestamp content type"},
		"an answer":   {line("assistant", "a1", "u1", said("m1", "yes"), at), "uuid parentUuid timestamp"},
		"a text":      {block(`{"type":"text","text":"yes"}`), "text"},
		"a call":      {block(`{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"x":"y"}}`), "name input"},
		"an output":   {line("user", "r1", "a1", answered("toolu_1", `"one"`), at), "tool_use_id"},
		"a thought":   {block(`{"type":"thinking","thinking":"hm","signature":"Ev8="}`), "thinking signature"},
		"an addition": {`{"parentUuid":"u1","type":"attachment","attachment":{"type":"date"},"uuid":"t1"` + at + `}`, "uuid parentUuid timestamp"},
		"a compaction": {`{"parentUuid":null,"logicalParentUuid":"u1","type":"system","subtype":"compact_boundary","compactMetadata":{"trigger":"auto","preTokens":9},"uuid":"b1"` + at + `}` + "\n" +
			line("user", "s1", "b1", asked("summary"), `,"isCompactSummary":true`+at) + "\n" + line("assistant", "a1", "s1", said("m1", "yes"), at), "logicalParentUuid compactMetadata subtype uuid"},
		"an end": {`{"type":"last-prompt","lastPrompt":"hi","leafUuid":"u1","sessionId":"s"}`, "leafUuid lastPrompt"},
	} {
		for _, key := range strings.Fields(c.keys) {
			wrong := strings.Replace(c.record, `"`+key+`":`, `"`+key[:1]+string(key[1]^1)+key[2:]+`":`, 1)
			text := prompt + "\n" + wrong + "\n"
			found := lintText(t, []byte(text), lint.Options{})
			i := slices.IndexFunc(found, func(f lint.Finding) bool { return f.Rule.Name == "flipped-bit" })
			if i < 0 {
				t.Errorf("%s without %s: not named: %+v", name, key, found)
				continue
			}
			if fixed, _ := mend(t, []byte(text), lint.Options{}); found[i].Impact != lint.Notes && !strings.Contains(string(fixed), `"`+key+`":`) {
				t.Errorf("%s without %s: not turned back:\n%s", name, key, fixed)
			}
		}
	}
}

// TestFlippedBitsOfTwo: where two keys may have been the one that a record lacks, none is turned into it.
func TestFlippedBitsOfTwo(t *testing.T) {
	whole := line("user", "u2", "u1", asked("go on"), `,"timestamp":"2026-01-20T10:00:00.000Z"`)
	text := line("user", "u1", "", asked("hi"), "") + "\n" + strings.Replace(whole, `"uuid":`, `"tuid":"other","uuie":`, 1) + "\n"
	for _, f := range lintText(t, []byte(text), lint.Options{}) {
		if f.Rule.Name == "flipped-bit" {
			t.Errorf("%+v", f)
		}
	}
}

// TestFlippedBitOfMany: a quote that ends a text too early may have been any of some characters: none is put in its place.
func TestFlippedBitOfMany(t *testing.T) {
	text := line("user", "u1", "", asked("hi"), "") + "\n" + strings.Replace(line("user", "u2", "u1", asked("go on"), ""), "go on", `go"on`, 1) + "\n"
	for _, f := range lintText(t, []byte(text), lint.Options{}) {
		if f.Rule.Name == "flipped-bit" {
			t.Errorf("%+v", f)
		}
	}
}
