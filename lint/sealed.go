package lint

import (
	"bytes"
	"fmt"

	"github.com/hist-cli/hist/internal/codex"
	"github.com/hist-cli/hist/internal/session"
)

var ruleUndecryptable = &Rule{
	Name: "undecryptable", Family: "items", Impact: Rejects, Fix: NoFix,
	Title: "encrypted items that the API can't decrypt",
	Text: `Reasoning and compactions are encrypted for one account of one provider. After a change of either every request fails: "The encrypted content … could not be verified", code invalid_encrypted_content. ` +
		`hist can't tell this from the items; it reports it where the client recorded the error and no answer came since (0.145 and later record it). Going back to the old account mends it without a loss. ` +
		`hist repair --strip-encrypted, which makes a copy and never writes in place, sets the encrypted items aside, whether an error is recorded or not. With an encrypted compaction the compaction goes: ` +
		`the readable history from before it is sent again, which is longer.`,
}

// sealedItems follows what of the model's history is encrypted.
type sealedItems struct {
	run   *run
	count int64       // encrypted items that are sent
	first Finding     // at the first of them
	held  bool        // the compaction in hand holds some
	error *Finding    // the newest error that says they can't be decrypted, with no answer since
	edits []Edit      // what strips them
	pos   session.Pos // of the newest edit
}

// add takes an item into account; a compaction's own, too.
func (s *sealedItems) add(it item) {
	if it.Answer {
		s.error = nil
	}
	if !codex.IsString(it.Record, codex.FieldEncrypted) {
		return
	}
	s.held = s.held || it.held()
	if s.count++; s.count == 1 {
		s.first = ownItem(it.owner).finding(ruleUndecryptable, NoFix, 0, "the encrypted items of the session are to be stripped")
	}
	if s.run.opts.StripEncrypted && s.pos != it.owner.Pos {
		s.pos = it.owner.Pos
		s.edits = append(s.edits, Edit{At: it.owner.Pos, Op: Remove})
	}
}

// compact begins a compaction, whose items follow. What was before it is not sent any more.
func (s *sealedItems) compact() (before sealedItems) {
	before = *s
	s.count, s.edits, s.held, s.error = 0, nil, false, nil
	return before
}

// compacted ends it. One that has to go brings back what was before it.
func (s *sealedItems) compacted(before sealedItems) {
	if s.held {
		s.edits = append(before.edits, s.edits...)
	}
}

var (
	errorCode  = []byte("invalid_encrypted_content")
	errorWords = []byte("could not be verified")
)

// turnEnd looks for the error in how a turn ended.
func (s *sealedItems) turnEnd(rec *session.Record) {
	told := recordedError(rec)
	if !bytes.Contains(told, errorCode) && !bytes.Contains(told, errorWords) {
		return
	}
	f := ownItem(rec).finding(ruleUndecryptable, NoFix, 0, "the API could not decrypt what the session holds encrypted, and refuses every request since")
	s.error = &f
}

// report says at the session's end what can't be decrypted, or is to be stripped.
func (s *sealedItems) report() {
	if s.count == 0 || s.error == nil && !s.run.opts.StripEncrypted {
		return
	}
	if s.run.opts.StripEncrypted {
		s.first.Fix, s.first.Edits, s.first.Lost = SetAside, s.edits, s.count
		s.run.report(s.first)
		return
	}
	s.error.Message += fmt.Sprintf(" (encrypted items: %d); hist repair --strip-encrypted makes a copy without them", s.count)
	s.run.report(*s.error)
}
