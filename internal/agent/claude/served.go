package claude

import (
	"bytes"
	"slices"
	"strings"

	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
)

// served is one half of a call that the API's own servers ran, such as a web search: both halves are in the answer.
type served struct {
	id     string
	output bool
	tool   string     // the tool that is called, or whose output this is
	span   jsonl.Span // of the block
}

// serve notes a block of a type for which the API's servers do the work.
func (n *facts) serve(kind string, v *format.Value, span jsonl.Span) {
	s := served{span: span}
	s.tool, s.output = strings.CutSuffix(kind, "_tool_result")
	switch {
	case s.output && s.tool != "mcp": // outputs of MCP tools are left out: they name their server, too
		s.id = string(v.Word(format.KeyResultID))
	case strings.HasSuffix(kind, "_tool_use"):
		s.id, s.tool = string(v.Word(format.KeyID)), string(v.Word(format.KeyName))
	}
	if s.id != "" {
		n.own().served = append(n.served, s)
	}
	if s.tool == "tool_search" {
		n.passing(v, span)
	}
}

// atStart is a tool that the client offers only while its MCP servers start: a resumed session has it for moments, or not at all.
const atStart = "WaitForMcpServers"

// passing notes references to that tool in the output of the API's own search for tools, which is sent as it is (2.1.215, 2.1.332, measured).
func (n *facts) passing(v *format.Value, span jsonl.Span) {
	if !bytes.Contains(v.Text, []byte(atStart)) {
		return
	}
	for _, ref := range v.Parsed().Get("content.tool_references").Array() {
		if ref.Get("tool_name").String() == atStart {
			at := span.Start + ref.Index
			n.fault(fault{
				rule: check.Refused, message: "a reference to " + atStart + ", which the client does not offer for long: the API may refuse every request", at: at,
				fix: finding.SetAside, impact: faults.OnAll(finding.Notes), cuts: []finding.Cut{{Start: at, End: at + len(ref.Raw), Element: true}},
			})
		}
	}
}

// servedAlone reports outputs of the API's servers whose call is not in the file, which clients send nevertheless (measured
// with 2.1.330), and calls without their output.
func (c *Checker) servedAlone() {
	if !c.some.served {
		return
	}
	calls, outputs := map[string]bool{}, map[string]bool{}
	goesOn := map[string]bool{}  // answers that end with text
	waiting := map[string]bool{} // answers that also call one of the client's tools: the servers' output may wait for that one's
	for _, n := range c.nodes {
		for _, s := range n.served {
			calls[s.id] = calls[s.id] || !s.output
			outputs[s.id] = outputs[s.id] || s.output
		}
		if n.role == roleAssistant && len(n.blocks) > 0 {
			goesOn[n.msg] = n.blocks[len(n.blocks)-1].kind == blockText
			waiting[n.msg] = waiting[n.msg] || slices.ContainsFunc(n.blocks, func(b block) bool { return b.kind == blockCall })
		}
	}
	for _, n := range c.nodes {
		for _, s := range n.served {
			switch {
			case s.output && !calls[s.id]:
				n.fault(fault{
					rule: faults.BadBlock, message: "the output of one of the API's own tools has no call: the API refuses it", at: s.span.Start,
					fix: finding.StandIn, impact: faults.OnAll(finding.Rejects), lost: 1,
					cuts: []finding.Cut{{Start: s.span.Start, End: s.span.Start, New: append(s.call(), ',')}},
				})
				c.some.faults = true
			case !s.output && !outputs[s.id] && slices.Contains(servedTools, s.tool) && (s.tool == webSearch || !waiting[n.msg]):
				c.servedCallAlone(n, s, goesOn[n.msg])
			}
		}
	}
}

const webSearch = "web_search"

// servedTools are the tools whose calls the API refuses without their outputs (its documentation).
var servedTools = []string{webSearch, "web_fetch", "code_execution", "bash_code_execution", "text_editor_code_execution"}

// servedCallAlone reports a call of the API's servers without its output. 2.1.2 sends it so, 2.1.330 drops it; both send a
// placeholder for the output (measured). If the answer does not go on after the call, it was interrupted, and nothing is lost
// by dropping it.
func (c *Checker) servedCallAlone(n *node, s served, goesOn bool) {
	impact := faults.OldAndNewer(finding.Rejects, finding.Notes)
	if goesOn {
		impact = faults.OldAndNewer(finding.Rejects, finding.Loses)
	}
	if c.worst(impact) == finding.Notes {
		return
	}
	what := "this web search"
	if s.tool != webSearch {
		what = "this call of one of the API's own tools (" + s.tool + ")"
	}
	n.fault(fault{
		rule: faults.LostResult, message: what + " has no output: the client drops it, an older one sends it and the API refuses it",
		at: s.span.Start, fix: finding.StandIn, impact: impact, lost: 1,
		cuts: []finding.Cut{{Start: s.span.End, End: s.span.End, New: append([]byte{','}, s.noOutput()...)}},
	})
	c.some.faults = true
}

// call stands in for the call of an output.
func (s served) call() []byte {
	return format.Object{"type": "server_tool_use", "id": s.id, "name": s.tool, "input": format.Object{"query": lostInput}}.JSON()
}

// noOutput stands in for the output of a call: it is what the API itself writes for a call that failed.
func (s served) noOutput() []byte {
	kind := s.tool + "_tool_result"
	none := format.Object{"type": kind + "_error", "error_code": "unavailable"}
	return format.Object{"type": kind, "tool_use_id": s.id, "content": none}.JSON()
}

// servedApart mends served calls that something stands apart from their outputs in the chain that the client wrote there: a command run by
// hand, a reminder, a prompt that waited. It sends that as the user, so the two halves come into two messages, and the API refuses every
// further request (2.1.215 to 2.1.332, measured). What stands between moves behind the turn.
func (c *Checker) servedApart() {
	if !c.some.served {
		return
	}
	calls := map[string]*node{}
	for _, n := range c.nodes {
		for _, s := range n.served {
			switch call := calls[s.id]; {
			case !s.output:
				calls[s.id] = n
			case call != nil && call != n && call.msg != "" && call.msg == n.msg && !n.side && n.dropped == nil:
				c.joinServed(call, n)
			}
		}
	}
}

// joinServed hangs what stands between the two halves of a served call behind the turn.
func (c *Checker) joinServed(call, output *node) {
	var between []*node // the last first
	from, sent := output, false
	for p := output.up; p != call; p = p.up {
		switch {
		case p == nil || p.role == roleResult || p.role == roleBoundary || len(between) > maxSiblings || p.role == roleAssistant && p.msg != call.msg:
			return
		case p.role == roleAssistant:
			if len(between) == 0 {
				from = p
			}
			continue
		}
		between = append(between, p)
		sent = sent || p.role == roleUser || p.Attachment != "" && p.Attachment != "prompt_snapshot" || p.Typ == "system" && p.over
	}
	if !sent {
		return
	}
	head := from.up // the last of what stands between; the parts of the answer in between stay in their order
	if head != between[0] || between[len(between)-1].up.role != roleAssistant {
		return
	}
	for i, b := range between[1:] {
		if between[i].up != b {
			return // parts of the answer stand among them
		}
	}
	d := c.add(&draft{about: output, also: []*node{call}, Finding: finding.Finding{
		Rule: faults.LateResult, Impact: finding.Rejects, Fix: finding.Exact,
		Message: "something that the client wrote comes between a call of one of the API's own tools and its output: the API refuses every further request",
	}})
	first := between[len(between)-1]
	c.hang(from, first.up, d)
	end, next := turnEnd(output), (*node)(nil)
	for k := end.first; k != nil; k = k.latter {
		if !k.side && k.dropped == nil && k.isPrompt() {
			next = k
		}
	}
	c.hang(first, end, d)
	if next != nil {
		c.hang(next, between[0], d)
	}
}
