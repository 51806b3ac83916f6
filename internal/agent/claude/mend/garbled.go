package mend

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hist-cli/hist/internal/agent/claude/evidence"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/normalize"
	"github.com/hist-cli/hist/internal/session"
)

// garbled is a prompt with bytes that are not UTF-8 or half a character, which clients read as U+FFFD, or with a control character that
// stands there as it is.
type garbled struct {
	n     *node
	words string // with U+FFFD for each of these
}

const unreadable = "\ufffd"

// noteGarbled keeps a prompt whose words contain such bytes.
func (c *Checker) noteGarbled(rec *session.Record, n *node) {
	raw := format.Field(rec, format.FieldContent)
	if !rec.Mended || c.Amend == nil || !n.IsPrompt() || n.Side || len(raw) < 2 || raw[0] != '"' || len(n.Blocks) != 1 || len(raw) > evidence.MaxOutput {
		return
	}
	words, ok := jsonl.Unquote(raw)
	if words = strings.Map(controlToUnreadable, words); ok && strings.Contains(words, unreadable) {
		c.garbled = append(c.garbled, garbled{n, words})
	}
}

func controlToUnreadable(r rune) rune {
	if r < ' ' && r != '\n' {
		return utf8.RuneError
	}
	return r
}

// wordsAgain restores the words of garbled prompts from another record of the file that has them.
func (c *Checker) wordsAgain() {
	for _, g := range c.garbled {
		at := c.echoFrom(g.n.Pos().Line)
		for i := max(0, at-earlierPrompts); i < min(len(c.echoes), at+earlierPrompts); i++ {
			e := &c.echoes[i]
			words := e.Words()
			if !isGarbled(g.words, words) || slices.Contains(promptForms(words), g.n.Message) {
				continue
			}
			c.Amend(g.n.Pos().Line, func(f *finding.Finding) {
				if f.Rule != normalize.InvalidUTF8 && f.Rule != normalize.LoneSurrogate && f.Rule != normalize.RawControl {
					return
				}
				f.Fix, f.Source, f.Lost = finding.Recovered, e.Source, 0
				of := g.n.Blocks[0].Span
				cut := finding.Cut{Start: of.From(), End: of.To(), New: jsonl.AppendQuote(nil, words)}
				f.Edits = append(f.Edits, finding.Edit{At: g.n.Pos(), Op: finding.Splice, Cuts: []finding.Cut{cut}})
				g.n.Message = promptForms(words)[0]
			})
			break
		}
	}
}

// isGarbled says whether words may be a garbled form of whole: what can be read of them is found there in the same order, and
// is most of it. A blank on both sides of what can't be read may be one.
func isGarbled(words, whole string) bool {
	return readsAs(words, whole) || readsAs(strings.ReplaceAll(words, " "+unreadable+" ", " "+unreadable), whole)
}

func readsAs(words, whole string) bool {
	parts := strings.Split(words, unreadable)
	if strings.Contains(whole, unreadable) || 2*len(strings.Join(parts, "")) < len(whole) || len(whole) > len(words)+len(parts) {
		return false
	}
	first, last := parts[0], parts[len(parts)-1]
	if len(whole) < len(first)+len(last) || !strings.HasPrefix(whole, first) || !strings.HasSuffix(whole, last) {
		return false
	}
	rest := whole[len(first) : len(whole)-len(last)]
	for _, p := range parts[1 : len(parts)-1] {
		at := strings.Index(rest, p)
		if at < 0 {
			return false
		}
		rest = rest[at+len(p):]
	}
	return true
}
