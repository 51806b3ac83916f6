package rules

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/surgery"
)

// Redact takes out what is encrypted: nobody can know whether a secret is in it.
func (sur Surgeon) Redact(s *surgery.Session, r *surgery.Redaction, opts surgery.RedactOptions) error {
	g := r.Group("encrypted", "reasoning that only the provider can read: nobody can know what it holds")
	inherited := false
	for i := range s.Records {
		rec := &s.Records[i]
		switch {
		case (rec.Type == "response_item/reasoning" || showsReasoning(rec)) && rec.Ordinal.State == session.GoodOrdinal && rec.Ordinal.Value < s.Info.SubagentStart:
			inherited = true // the numbers of what a sub-agent inherits must not change
		case rec.Type == "response_item/reasoning", showsReasoning(rec):
			g.Drop(rec)
		case !bytes.Contains(rec.Raw, []byte(`"encrypted_content"`)):
		case rec.Type == "response_item/compaction" || rec.Type == "response_item/compaction_summary":
			if !opts.DropEncrypted {
				return refuseSealed(rec)
			}
			if v, ok := surgery.At(rec.Raw, "payload"); ok {
				g.Cut(rec, v.Instead([]byte(takenOut)))
			}
		case rec.Kind == session.Compaction:
			cuts, lost := encrypted(rec)
			if lost && !opts.DropEncrypted {
				return refuseSealed(rec)
			}
			if len(cuts) > 0 {
				g.Cut(rec, cuts...)
			}
		}
	}
	if !g.Empty() {
		r.Notes = append(r.Notes, "encrypted reasoning was taken out, because nobody can know whether it holds the secrets")
	}
	if inherited {
		r.Notes = append(r.Notes, "encrypted reasoning that it inherits from another session stays, and nobody can know whether it holds the secrets")
	}
	return nil
}

// showsReasoning says whether an event shows a summary of reasoning: without the reasoning, it would look as if that was lost.
func showsReasoning(rec *session.Record) bool {
	switch rec.Type {
	case "event_msg/agent_reasoning", "event_msg/agent_reasoning_raw_content":
		return true
	case "event_msg/item_completed":
		return gjson.GetBytes(rec.Raw, "payload.item.type").String() == "Reasoning"
	}
	return false
}

func refuseSealed(rec *session.Record) error {
	return surgery.Refuse("%s holds a compaction of which only the provider can read what it keeps, so the secrets may be in it; --drop-encrypted takes it out, and the model then lacks what came before", rec.Pos)
}

// takenOut stands in the place of a summary that only the provider can read.
const takenOut = `{"type":"message","role":"user","content":[{"type":"input_text","text":"` + surgery.Mark + `what came before was summed up in a form that only the provider can read; that was taken out here]"}]}`

// encrypted are the cuts that take encrypted items out of the history that a compaction keeps, with what it notes about each. lost says that one
// of them is a summary: a note stands in its place.
func encrypted(rec *session.Record) (cuts []session.Cut, lost bool) {
	list, ok := surgery.At(rec.Raw, "payload.replacement_history")
	if !ok {
		return nil, false
	}
	about := gjson.GetBytes(rec.Raw, "payload.replacement_history_metadata").Array()
	for i, it := range list.Array() {
		cut := session.Cut{Start: it.Index, End: it.Index + len(it.Raw), Element: true}
		switch {
		case it.Get("encrypted_content").String() == "":
			continue
		case it.Get("type").String() != "reasoning":
			cut.Element, cut.New, lost = false, []byte(takenOut), true
		case i < len(about):
			cuts = append(cuts, session.Cut{Start: about[i].Index, End: about[i].Index + len(about[i].Raw), Element: true})
		}
		cuts = append(cuts, cut)
	}
	slices.SortFunc(cuts, func(a, b session.Cut) int { return cmp.Compare(a.Start, b.Start) })
	return cuts, lost
}
