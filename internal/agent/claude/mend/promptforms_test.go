package mend

import (
	"slices"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// TestPromptForms: a prompt of any length is known by its words, however a client has written it.
func TestPromptForms(t *testing.T) {
	rec := session.Record{Spans: make([]jsonl.Span, format.FieldCount)}
	for _, n := range []int{1, 40, 400, 40_000} {
		words := strings.Repeat("say \"ö\"\n", n)
		quoted := string(jsonl.AppendQuote(nil, words))
		for _, message := range []string{`{"role":"user","content":` + quoted + `}`, `{"role":"user","content":[{"type":"text","text":` + quoted + `}]}`} {
			rec.Raw = []byte(`{"parentUuid":null,"type":"user","message":` + message + `,"uuid":"u"}`)
			jsonl.NewScanner(format.Shape).Scan(rec.Raw, rec.Spans)
			if _, sum := content.SumsOf(&rec); !slices.Contains(promptForms(words), sum) {
				t.Errorf("a prompt of %d bytes, written as %.60s, is not known again", len(words), message)
			}
		}
	}
}
