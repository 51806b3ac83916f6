package mend

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/evidence"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/normalize"
	"github.com/hist-cli/hist/internal/session"
)

// garbled is a prompt with bytes that are not UTF-8 or half a character, which clients read as U+FFFD, or with a control character that
// stands there as it is; or a prompt or an output of which NULs may have taken the place of a part.
type garbled struct {
	n     *node
	words string      // with U+FFFD for each of these
	at    finding.Cut // where they stand in the record
	nuls  int         // how many were taken out of its line
	told  string      // of an output: what the tool's own result says of it
}

// hole is the content of a record out of whose line NULs were taken, and how many.
type hole struct {
	content []byte
	nuls    int
}

const unreadable = "\ufffd"

// noteGarbled keeps a prompt whose words contain such bytes, and what a record holds that NULs were taken out of.
func (c *Checker) noteGarbled(rec *session.Record, n *node) {
	if !rec.Mended && rec.Holed == 0 || n.Side || !n.HasMessage() {
		return
	}
	raw := format.Field(rec, format.FieldContent)
	if len(raw) > evidence.MaxOutput {
		return
	}
	if rec.Holed > 0 {
		c.cut[n], c.holed[n] = len(rec.Raw), hole{bytes.Clone(raw), rec.Holed}
	}
	g := garbled{n: n, nuls: rec.Holed}
	switch {
	case len(n.Blocks) != 1:
		return
	case n.IsPrompt() && format.Begins(raw, '"'):
		g.at = finding.Cut{Start: n.Blocks[0].Span.From(), End: n.Blocks[0].Span.To()}
	case rec.Holed > 0 && n.Role == content.RoleResult:
		span := rec.Spans[format.FieldBlockContent]
		raw = format.Field(rec, format.FieldBlockContent)
		g.at = finding.Cut{Start: int(span.Start), End: int(span.End)}
		g.told, _ = jsonl.Unquote(content.Told(rec, n.Version))
	}
	words, ok := jsonl.Unquote(raw)
	if g.words = words; g.nuls == 0 {
		g.words = strings.Map(controlToUnreadable, words)
	}
	if ok && g.at.End > 0 && (g.nuls > 0 || strings.Contains(g.words, unreadable)) {
		c.garbled = append(c.garbled, g)
	}
}

func controlToUnreadable(r rune) rune {
	if r < ' ' && r != '\n' {
		return utf8.RuneError
	}
	return r
}

// wordsAgain restores garbled words from another record of the file that has them, or an output from the tool's own result.
func (c *Checker) wordsAgain() {
	for _, g := range c.garbled {
		if g.n.Role == content.RoleResult {
			if normalize.Fills(g.told, g.words, g.nuls) {
				c.fill(g, g.told, "the tool's own result in the same record")
			}
			continue
		}
		at := c.echoFrom(g.n.Pos().Line)
		for i := max(0, at-earlierPrompts); i < min(len(c.echoes), at+earlierPrompts); i++ {
			e := &c.echoes[i]
			words := e.Words()
			if g.nuls > 0 && words == g.words {
				break // nothing stood in place of the NULs
			}
			if fits := g.nuls > 0 && normalize.Fills(words, g.words, g.nuls) || g.nuls == 0 && isGarbled(g.words, words); !fits || slices.Contains(promptForms(words), g.n.Message) {
				continue
			}
			c.fill(g, words, e.Source)
			g.n.Message = promptForms(words)[0]
			break
		}
	}
}

// fill puts words in place of garbled ones.
func (c *Checker) fill(g garbled, words, source string) {
	c.run.AmendFraming(g.n.Pos().Line, func(f *finding.Finding) {
		if f.Rule != normalize.InvalidUTF8 && f.Rule != normalize.LoneSurrogate && f.Rule != normalize.RawControl && f.Rule != normalize.NULBytes {
			return
		}
		f.Fix, f.Source, f.Lost = finding.Recovered, source, 0
		g.at.New = jsonl.AppendQuote(nil, words)
		f.Edits = append(f.Edits, finding.Edit{At: g.n.Pos(), Op: finding.Splice, Cuts: []finding.Cut{g.at}})
	})
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
