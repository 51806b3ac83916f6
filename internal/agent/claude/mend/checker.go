package mend

import (
	"bytes"
	"strings"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/evidence"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

// options are what is known about a session beside its bytes. The edits of a finding never rely on those of one that Mend does not allow.
type options struct {
	*check.Options
	For      string           // the version of the client that will resume the session; "": the one that wrote it, and the newest known
	Session  string           // the id in the file's name, "" if it has none
	Beside   *evidence.Folder // where else parts of the session may be; nil: nowhere
	SubAgent bool             // the file has the name of a sub-agent's own, all of whose records are marked so
	Forked   bool             // and begins with what stands in the session's file
}

// Checker takes a session's records one by one, and reports at the end what is wrong with them.
type Checker struct {
	run  *check.Run
	opts options
	recordTree
	sideRecords
	brokenLines
	callPairs
	fileFacts
	verdict
	beside   format.Setting
	proof    proof
	Summary  Summary
	noRecord bool // the file holds none, and nothing else tells what it should hold
}

func newChecker(run *check.Run, opts options) *Checker {
	return &Checker{
		run: run, opts: opts, proof: newProof(),
		verdict:     verdict{sentSet: &nodeSet{}}, // a file without a conversation sends nothing
		recordTree:  recordTree{copies: map[session.Pos][]session.Pos{}, saidBefore: map[*node]*node{}},
		sideRecords: sideRecords{snapshots: map[string]bool{}},
		brokenLines: brokenLines{trifles: map[int64]string{}, other: map[int64]bool{}, half: map[int64]bool{}, cut: map[*node]int{}, holed: map[*node]hole{}, begunIDs: map[*node]string{}},
	}
}

// Record takes the next logical record.
func (c *Checker) Record(rec *session.Record) {
	if rec.Kind == session.Unreadable {
		c.noteLed(rec)
		c.unreadable(rec)
		return
	}
	delete(c.trifles, rec.Pos.Line) // the line held more than one record
	if rec.Mended {
		c.noteLed(rec)
	}
	c.errors(rec)
	c.last.Set(rec)
	if format.InTree(rec) {
		c.treeRecord(rec)
		return
	}
	if rec.Mended {
		c.other[rec.Pos.Line] = true
	}
	c.bookkeeping(rec)
}

// unreadable takes a line that holds no record, and keeps what is left of it.
func (c *Checker) unreadable(rec *session.Record) {
	c.zeros = c.zeros || rec.Zeros
	if string(bytes.TrimRight(rec.Raw, "\r\n")) == conflict && len(c.sides) < maxBranches {
		c.sides = append(c.sides, rec.Pos)
	}
	if rec.Blank {
		return
	}
	c.dead = append(c.dead, rec.Pos)
	if typ := trifle(rec); typ != "" && !(rec.Open && c.middleTarget()) { // older clients would append their next record to an open line
		c.trifles[rec.Pos.Line] = typ
		if words := evidence.EnqueuedIn(rec.Raw); typ == "queue-operation" && words != "" {
			c.echoes = append(c.echoes, evidence.Echo{Told: words, Source: evidence.PieceSource, At: rec.Pos})
			c.begun = finding.RefOf(rec)
		}
	}
	c.half[rec.Pos.Line] = c.half[rec.Pos.Line] || halfMessage(rec.Raw)
	if evidence.BegunOnly(rec.Raw) {
		c.begun = finding.RefOf(rec)
	}
	c.salvage(rec)
}

// treeRecord takes a record that may have its place in the tree.
func (c *Checker) treeRecord(rec *session.Record) {
	c.beside.Side = c.beside.Side || c.opts.SubAgent && format.IsTrue(rec, format.FieldSidechain)
	c.beside.Take(rec)
	if v := c.beside.Version.Words; v != c.written && (c.written == "" || format.Before(c.written, v)) {
		c.written = v
	}
	n := c.nodeOf(rec)
	n.Side = n.Side && !c.opts.SubAgent
	n.index, n.number = len(c.nodes), int32(c.numbers)
	c.numbers++
	c.answering.take(n, rec)
	c.some.note(n)
	c.cwds.note(n, rec)
	c.noteFiled(rec, n)
	c.opening(n, rec)
	c.noteCalls(rec, n)
	c.noteGarbled(rec, n)
	c.queueBehind(n, rec)
	if n.Typ == "user" && len(n.Blocks) == 0 && len(format.Field(rec, format.FieldToolResult)) > 0 && c.pieces.Size < evidence.MaxPieces { // an output was taken out of it
		c.pieces.TakeTold(rec.Raw, rec.Pos.Line)
	}
	c.proof.answer(n, format.Field(rec, format.FieldContent), format.Text(rec, format.FieldModel))
	c.nodes = append(format.Doubled(c.nodes), n)
	c.ids.set.add(n.UUID)
	if n.Side && string(format.Field(rec, format.FieldContent)) == warmUp {
		c.warmUps++
	}
	c.proof.compaction(n)
	if n.Role == content.RoleBoundary && !n.Side {
		c.leaf, c.leafAt = "", finding.Ref{} // an end that was named in front of a compaction counts no more (2.1.215 and 2.1.332, measured)
	}
	if n.torn {
		c.cut[n] = len(rec.Raw)
		if begun := begunID(rec); begun != "" && n.UUID == "" {
			c.begunIDs[n] = begun
		}
	}
}

// conflict is the line between the two sides of a conflict that a tool like git has marked.
const conflict = "======="

// prior is the newest record of the tree so far; an empty one, not nil, if there is none.
func (c *Checker) prior() *node {
	if len(c.nodes) == 0 {
		return &node{}
	}
	return c.nodes[len(c.nodes)-1]
}

// nodeOf returns the node of a record. Usually it was made earlier, in parallel, where the line was scanned (see Prepare).
func (c *Checker) nodeOf(rec *session.Record) *node {
	n, read := rec.Prepared.(*node)
	if !read {
		n = c.reader.read(rec)
	}
	n.stands(rec)
	return n
}

// halfMessage says whether unreadable bytes are what is left of a record with a message.
func halfMessage(raw []byte) bool {
	return bytes.Contains(raw, []byte(`"parentUuid":`)) && bytes.Contains(raw, []byte(`"message":{`))
}

// bookkeeping takes a record outside the tree that says something about it.
func (c *Checker) bookkeeping(rec *session.Record) {
	of := c.bookkeeper(rec)
	switch string(format.Text(rec, format.FieldType)) {
	case "last-prompt":
		if format.IsTrue(rec, format.FieldExplicit) {
			c.rewinds = append(c.rewinds, rec.Pos)
		}
		leaf := c.reader.Keeper.As(c.prior().UUID, rec, format.FieldLeaf)
		if leaf != "" && !zeros(leaf) {
			c.leaf, c.leafAt = leaf, finding.RefOf(rec)
			c.ends = append(format.Doubled(c.ends), namedEnd{leaf, c.leafAt, of})
		}
		if string(format.Text(rec, format.FieldHist)) == chosenMark {
			c.choice = choice{leaf: format.Decoded(rec, format.FieldLeaf), at: rec.Pos}
		}
		if len(format.Text(rec, format.FieldLastPrompt)) > 0 && !evidence.Shortened(format.Field(rec, format.FieldLastPrompt)) {
			c.echoes = append(format.Doubled(c.echoes), evidence.Echo{})
			e := &c.echoes[len(c.echoes)-1] // written where it stays, as there are many
			e.Told, e.Source, e.Leaf, e.Session, e.At = string(format.Field(rec, format.FieldLastPrompt)), "the last-prompt record of this file", leaf, of, rec.Pos
			e.Late, e.Last = true, true
		}
	case "ai-title":
		c.named = true
	case "summary":
		c.copied++
		c.title(format.Decoded(rec, format.FieldLeaf))
	case "file-history-snapshot":
		c.copied++
		c.snapshots[format.Decoded(rec, format.FieldMessageRef)] = true
	case "queue-operation":
		c.queued = append(format.Doubled(c.queued), queueRecord{finding.RefOf(rec), of})
		c.queueOperation(rec, of)
	case "api-request-blob":
		words := evidence.PromptsOfBlob(format.Field(rec, format.FieldMessage))
		c.proof.blob(rec, words)
		c.pieces.TakeSent(format.Field(rec, format.FieldMessage))
		for _, t := range words {
			c.echoes = append(format.Doubled(c.echoes), evidence.Echo{Told: t, Source: evidence.SentSource, At: rec.Pos, Late: true, Hash: string(format.Text(rec, format.FieldHash))})
		}
	case "api-request":
		c.proof.request(rec)
	}
}

func zeros(id string) bool { return strings.Trim(id, "0-") == "" }
