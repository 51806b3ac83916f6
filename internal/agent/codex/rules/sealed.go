package rules

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

var ruleUndecryptable = texts.Rule(finding.Rule{Name: "undecryptable", Family: "items", Impact: finding.Rejects, Fix: finding.NoFix})

// sealedItems follows the encrypted items of the model's history.
type sealedItems struct {
	run   *run
	items []sealedItem     // the newest items; all of them if they are to be stripped
	older int64            // how many earlier items of this history are only counted
	error *finding.Finding // the newest error that says the items can't be decrypted, if no answer has come since
}

// sealedItem is where an encrypted item stands.
type sealedItem struct {
	ref    finding.Ref
	record string
}

// keptSealed is how many encrypted items, at least, are kept with their places.
const keptSealed = 1 << 12

// isSealed says whether an item can't be read without the key of who made it, all of it or what an agent tells another.
func isSealed(rec *session.Record) bool {
	return codex.IsString(rec, codex.FieldEncrypted) || rec.Type == "response_item/agent_message" && bytes.Contains(rec.Spans[codex.FieldContent].Of(rec.Raw), sealedPart)
}

// add takes an item, including one that a compaction holds.
func (s *sealedItems) add(it item) {
	if it.Answer {
		s.error = nil
	}
	if !isSealed(it.Record) {
		return
	}
	if len(s.items) >= 2*keptSealed && !s.run.opts.StripEncrypted {
		s.items = s.items[:copy(s.items, s.items[keptSealed:])]
		s.older += keptSealed
	}
	s.items = append(s.items, sealedItem{record: it.owner.Type})
	s.items[len(s.items)-1].ref.Set(it.owner)
}

// compact begins a compaction. What was before it is not sent any more.
func (s *sealedItems) compact() { s.older = 0 }

// strips says whether a compaction is to be set aside because it holds something encrypted. What came before it is then sent
// again.
func (s *sealedItems) strips(held *codex.Held, rec *session.Record) bool {
	sealed := false
	if s.run.opts.StripEncrypted {
		held.Each(rec, func(it *session.Record, _ int) {
			sealed = sealed || isSealed(it)
		})
	}
	return sealed
}

// refused notes that the API could not decrypt the items. rec is the record that says so, nil if none does.
func (s *sealedItems) refused(rec *session.Record) {
	s.error = &finding.Finding{Rule: ruleUndecryptable}
	if rec != nil {
		*s.error = ownItem(rec).finding(ruleUndecryptable, finding.NoFix, 0, "")
		s.error.On = finding.RefOf(rec)
	}
}

// report reports, at the session's end, what can't be decrypted or is to be stripped.
func (s *sealedItems) report() {
	refused := s.error != nil && (s.error.Pos.Line == 0 || !s.error.Pos.Less(s.run.history.Base()))
	if !refused && !s.run.opts.StripEncrypted {
		return
	}
	sent := slices.DeleteFunc(s.items, func(it sealedItem) bool { return !s.run.history.Counts(it.ref.Pos) })
	if len(sent) == 0 {
		return
	}
	at := sent[0]
	f := ruleUndecryptable.At(at.ref, at.record, "the encrypted items of the session are to be stripped")
	f.On = at.ref
	if s.run.opts.StripEncrypted {
		f.Fix, f.Lost = finding.SetAside, int64(len(sent))
		for i, it := range sent {
			if i == 0 || it.ref.Pos != sent[i-1].ref.Pos {
				f.Edits = append(f.Edits, finding.Edit{At: it.ref.Pos, Op: finding.Remove})
			}
		}
		s.run.Report(f)
		return
	}
	f.Option = "--strip-encrypted"
	f.Message = fmt.Sprintf("the API could not decrypt the session's encrypted items and has refused every request since (encrypted items: %d); hist repair %s makes a copy without them", s.older+int64(len(sent)), f.Option)
	if s.error.Pos.Line > 0 && s.run.history.Counts(s.error.Pos) { // otherwise the turn of the error was rolled back
		f.Pos, f.Offset, f.On, f.Record = s.error.Pos, s.error.Offset, s.error.On, s.error.Record
	}
	s.run.Report(f)
}
