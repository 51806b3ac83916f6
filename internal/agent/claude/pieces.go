package claude

import (
	"bytes"

	"github.com/hist-cli/hist/internal/agent/claude/evidence"
	"github.com/hist-cli/hist/internal/session"
)

// An unreadable line may still hold, in the part that was not hit, a whole message with its id, or a block: a call, an output,
// the words of a prompt. What is lost is looked for there, too.

// salvage keeps the whole blocks and the prompt that an unreadable line still holds.
func (c *Checker) salvage(rec *session.Record) {
	raw := rec.Raw
	if len(raw) > evidence.MaxPieceLine || bytes.Contains(raw, []byte(`"isSidechain":true`)) {
		return
	}
	m, ok := evidence.MessageIn(raw)
	if !ok {
		m, ok = evidence.BeginningIn(raw)
	}
	if ok && c.pieces.Size < evidence.MaxPieces {
		c.pieces.KeepOf(m, rec.Pos.Line, len(raw))
	} else if r, ok := evidence.RestOf(raw); ok && c.pieces.Size < evidence.MaxPieces {
		c.pieces.TakeRest(r, rec.Pos.Line, len(raw))
	}
	if c.pieces.Size < evidence.MaxPieces {
		c.pieces.TakeTold(raw, rec.Pos.Line)
	}
	if words, ok := evidence.PromptIn(raw); ok {
		c.echoes = append(c.echoes, evidence.Echo{Told: words, Source: evidence.PieceSource, At: rec.Pos})
	}
	tries := 0
	for _, start := range []string{`{"type":"tool_use",`, `{"type":"tool_result",`, `{"tool_use_id":`} {
		for rest := raw; tries < evidence.MaxPieceTries && c.pieces.Size < evidence.MaxPieces; {
			at := bytes.Index(rest, []byte(start))
			if at < 0 {
				break
			}
			rest = rest[at:]
			if size := c.pieces.Take(rest); size > 0 {
				rest = rest[size:]
			} else {
				rest = rest[len(start):]
				tries++
			}
		}
	}
}
