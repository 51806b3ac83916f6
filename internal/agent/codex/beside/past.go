package beside

import (
	"context"
	"fmt"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
)

// ownPast mends a fork whose lineage is broken: the fork gets those records of its ancestors that are certain to be its past,
// and relies on no other file any more. If some of them are gone, the model is told so.
func (h *Home) ownPast(ctx context.Context, src *source.Source, res *lint.Result, f *lint.Finding, rewritten bool, find func(string) string) {
	line := firstLine(linesOf(ctx, src))
	ordinal := gjson.GetBytes(line, "ordinal")
	began := writtenAt(line)
	if gjson.GetBytes(line, "type").Str != "session_meta" || ordinal.Type != gjson.Number || began.IsZero() || res.Summary.Header.SubagentStart > 0 {
		return
	}
	records, has := recordsBefore(ctx, res.Summary.Header, began, rewritten, find, func(path string) [][]byte { return h.keptOf(ctx, path) })
	header := session.Pos{Line: 1}
	f.Edits = []lint.Edit{
		{At: header, Op: lint.Splice, Cuts: []session.Cut{
			{Start: ordinal.Index, End: ordinal.Index + len(ordinal.Raw), New: []byte("0")}, session.DropMember(line, "payload", "history_base"),
		}},
	}
	// Where some is missing, the jumps in the ordinals tell where: it may come back from a damaged line, or from what events say. Older clients stop at them.
	jumps := has == hasParts && !codex.Before(res.Summary.Header.Version, 0, 154)
	if !jumps {
		f.Edits = append(f.Edits, lint.Edit{At: header, Op: lint.Renumber})
	}
	n := 0
	for _, r := range records {
		if r.Damaged && !jumps {
			continue
		}
		if !r.Damaged {
			n++
		}
		f.Edits = append(f.Edits, lint.Edit{At: header, Op: lint.After, New: lint.Content{Literal: r.Line, Numbered: jumps}})
	}
	if jumps { // the number that the header had is no sign of a loss
		was := ordinal.Int()
		f.Edits = append(f.Edits, lint.Edit{At: header, Op: lint.After, New: lint.Content{Literal: codex.NewTokenCount(gjson.GetBytes(line, "timestamp").String(), &was), Numbered: true}})
	}
	f.Fix, f.Source = lint.Recovered, "the ancestors' records"
	switch {
	case has == hasWhole:
		f.Message += fmt.Sprintf("; all %d records that it inherits are still there, and become its own", n)
	case n == 0:
		f.Message += "; none of the records that it inherits can be identified; the model is told that they are lost"
	case has == hasParts:
		f.Message += fmt.Sprintf("; %d of the records that it inherits can be identified, and become its own", n)
	default:
		f.Message += fmt.Sprintf("; %d of the records that it inherits can be identified, and become its own; the model is told that the others are lost", n)
	}
	if has != hasWhole {
		f.Fix, f.Lost = lint.StandIn, 1
	}
	if has == hasEnds {
		f.Edits = append(f.Edits, lint.Edit{At: header, Op: lint.After, New: lint.Content{Literal: codex.LostPast(gjson.GetBytes(line, "timestamp").String())}})
	}
	if n == 0 {
		f.Source = ""
	}
	res.Summary.Header.BaseOrdinal = 0 // the copy's records are numbered from 0
}

// keptOf are the records that a repair of an ancestor would give back to it, as they would stand in its file.
func (h *Home) keptOf(ctx context.Context, path string) (lines [][]byte) {
	src, err := source.Open(path)
	if err != nil {
		return nil
	}
	defer src.Close()
	name := lint.NameOf(path, true)
	kept := func(ctx context.Context, _, dir, base string) check.Kept {
		return Kept(ctx, dir, base, func() []string { return nil }, NewForks())
	}
	res, err := lint.Source(ctx, src, lint.Options{Name: name, Agent: codex.Name, Home: h.dir, Kept: kept})
	if err != nil {
		return nil
	}
	for i := range res.Findings {
		for _, e := range res.Findings[i].Edits {
			if e.Op == lint.Restore {
				lines = append(lines, e.New.Literal)
			}
		}
	}
	return lines
}
