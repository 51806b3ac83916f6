package clienttest

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/hist-cli/hist/lint"
)

// several is a session with more than one damage, and what a client is sent of it once it is mended.
type several struct {
	name, version, scenario, reader string
	of                              float64 // how much of the sound session's history is sent after the repair
	do                              func(s Session) Session
}

// severals are damages that only together once made a repair send less than it was sent without it, or something twice.
func severals() []several {
	ownParent := func(s Session, i int) Session {
		return s.with(i, Set(s[i], "", "parentUuid", `"`+get(s[i], "uuid")+`"`))
	}
	return []several{
		{"a record of the first turn is its own parent, and stands in front of the prompt", "2.1.215", "image", "2.1.330", 1, func(s Session) Session {
			i := s.first()
			s = ownParent(s, i+1)
			return s.with(i, s[i+1]).with(i+1, s[i])
		}},
		{"two clients in turns, one compacts, and one's prompt is lost", "2.1.2", "compact", "2.1.2", 1, func(s Session) Session {
			end, next := s.endOfTurn(), s.second()
			p, a := branch(s[end], 0, "9")
			out := slices.Insert(s.with(next, s[next][len(s[next])/2:]), next+1, p)
			return slices.Insert(out, next+5, a)
		}},
		{"two clients in turns, and both prompts are lost", "2.1.100", "thinking", "2.1.330", 0.87, func(s Session) Session {
			next := s.second()
			_, a := branch(s[s.endOfTurn()], 20*time.Second, "9")
			return slices.Insert(s.without(next, next+1), next, a)
		}},
		{"the session, the last line first, in front of the session", "2.1.330", "compact", "2.1.330", 1, func(s Session) Session {
			out := slices.Clone(s)
			slices.Reverse(out)
			return append(out, s...)
		}},
		{"a prompt is cut off behind its answer", "2.1.2", "continued", "2.1.2", 1, func(s Session) Session {
			i := s.second()
			cut := s[i][:bytes.Index(s[i], []byte(`"timestamp"`))]
			return s.with(i, s[i+1]).with(i+1, cut)
		}},
		{"the end of a turn is cut off behind the next prompt", "1.0.17", "image", "2.1.330", 1, func(s Session) Session {
			i := s.second()
			cut := s[i-1][:bytes.Index(s[i-1], []byte(`"uuid"`))]
			return s.with(i-1, s[i]).with(i, cut)
		}},
		{"the first prompt hangs on an output of its turn, the answer on nothing", "2.1.100", "resumed", "2.1.330", 1, func(s Session) Session {
			i := s.first()
			s = s.with(i, Set(s[i], "", "parentUuid", `"`+get(s[s.firstOut()], "uuid")+`"`))
			return s.with(i+1, Set(s[i+1], "", "parentUuid", "null"))
		}},
		{"the last line is cut off and glued to what announces the next prompt", "2.1.100", "image", "2.1.330", 0.8, func(s Session) Session {
			i := s.second()
			out := slices.Clone(s[:i-1])
			return out.with(i-3, slices.Concat(s[i-3][:30], s[i-2])).without(i - 2)
		}},
		{"the first prompt is lost, and what the client added to it hangs on nothing", "2.1.330", "redacted", "2.1.330", 1, func(s Session) Session {
			i := s.first()
			s = s.with(i+2, Set(s[i+2], "", "parentUuid", "null"))
			return s.without(i)
		}},
		{"of the first prompt little is left but its parent", "2.1.215", "image", "2.1.330", 1, func(s Session) Session {
			i := s.first()
			return s.with(i, []byte(`{"parentUuid":null,"isSidechain":false,"promptId":"p","cwd":"/home/dev/demo","sessionId":"`+get(s[i], "sessionId")+`","version":"2.1.215"}`))
		}},
		{"the first prompt again behind the end, cut off", "2.1.2", "tool_error", "2.1.2", 1, func(s Session) Session {
			l := s[s.first()]
			return append(slices.Clone(s), l[:bytes.Index(l, []byte(`"uuid"`))])
		}},
		{"the last turn is lost, and its prompt is told twice and taken twice", "2.1.100", "thinking", "2.1.330", 0.84, func(s Session) Session {
			i := s.second()
			return append(slices.Clone(s[:i]), s[s.lastPrompt()], s[i-1])
		}},
		{"a blank of a prompt has become a raw tab", "2.1.330", "resumed", "2.1.330", 1, func(s Session) Session {
			i := s.second()
			return s.with(i, bytes.Replace(s[i], []byte("and now"), []byte("and\tnow"), 1))
		}},
		{"a blank of a prompt has become half a character", "2.1.100", "resumed", "2.1.330", 1, func(s Session) Session {
			i := s.second()
			return s.with(i, bytes.Replace(s[i], []byte("and now"), []byte(`and\ud83dnow`), 1))
		}},
		{"half a character came into a prompt", "2.1.100", "resumed", "2.1.330", 1, func(s Session) Session {
			i := s.second()
			return s.with(i, replaceText(" ", ` \ud83d `)(s[i]))
		}},
		{"a call that a compaction has kept is lost", "2.1.330", "compact_auto", "2.1.330", 1, func(s Session) Session {
			return s.without(s.find(-1, func(l []byte) bool { return inTree(l) && isCall(l) }))
		}},
		{"an output that a compaction has kept is lost", "2.1.330", "compact_auto", "2.1.330", 1, func(s Session) Session {
			return s.without(s.find(-1, func(l []byte) bool { return inTree(l) && isResult(l) }))
		}},
		{"the text of an answer that a compaction has kept is lost", "2.1.330", "compact_auto", "2.1.330", 1, func(s Session) Session {
			return s.without(s.find(-1, func(l []byte) bool { return isText(l) && get(l, "message.content.0.text") == "That was three." }))
		}},
		{"a text in front of a call that a compaction has kept, and the prompt before it, are lost", "2.1.330", "compact_auto", "2.1.330", 1, func(s Session) Session {
			i := s.find(-1, func(l []byte) bool { return isText(l) && get(l, "message.content.0.text") == "Third now." })
			return s.without(i, s.second())
		}},
		{"an answer hangs on another client's turn, which a compaction has overtaken", "2.0.29", "compact", "2.1.330", 1, func(s Session) Session {
			i := s.find(1, isText)
			p, a := branch(s[i], 40*time.Second, "9")
			mark := s.find(0, isMark)
			out := slices.Insert(s.with(i, Set(s[i], "", "parentUuid", `"`+get(p, "uuid")+`"`)), mark+8, a)
			return slices.Insert(out, s.endOfTurn()+3, p)
		}},
		{"a prompt is restored from what is left of its line, under the id that follows", "1.0.17", "thinking", "2.1.330", 0.87, func(s Session) Session {
			i := s.second()
			return s.with(i, append([]byte(`":"external",`), s[i][bytes.Index(s[i], []byte(`"cwd"`)):]...)).with(i+1, s[i+1][len(s[i+1])*2/3:])
		}},
		{"a prompt is lost, and an older echo stands behind its answer", "2.1.215", "image", "2.1.330", 0.8, func(s Session) Session {
			_, a := branch(s[s.lastText()], 20*time.Second, "9")
			return append(slices.Clone(s), a, s[s.second()-3])
		}},
		{"a later copy of a record hangs on what hangs on the record", "2.0.29", "stream_json", "2.1.330", 1, func(s Session) Session {
			i := s.find(1, isCall)
			return slices.Insert(slices.Clone(s), i+1, Set(s[i-2], "", "parentUuid", `"`+get(s[i], "uuid")+`"`))
		}},
		{"the last answer and its prompt have changed places, and the answer's line has lost its beginning", "2.0.29", "image", "2.1.330", 1, func(s Session) Session {
			i := s.second()
			return s.with(i, s[i+1][bytes.Index(s[i+1], []byte(`"text":"`)):]).with(i+1, s[i])
		}},
		{"a prompt is moved to the front and cut off, and the answer that it hangs on has lost its beginning", "2.1.2", "subagent", "2.1.2", 1, func(s Session) Session {
			i, end := s.second(), s.endOfTurn()
			cut := s[i][:bytes.Index(s[i], []byte(`"timestamp"`))]
			s = s.with(end, s[end][bytes.Index(s[end], []byte(`"content":[`)):]).without(i)
			return slices.Insert(s, s.first(), cut)
		}},
		{"the first prompt and its answer have changed places, and the answer hangs on nothing", "1.0.17", "image", "2.1.330", 1, func(s Session) Session {
			i := s.first()
			return s.with(i, Set(s[i+1], "", "parentUuid", "null")).with(i+1, s[i])
		}},
		{"only the first prompt is left, behind the end of its answer", "2.1.2", "redacted", "2.1.2", 0.28, func(s Session) Session {
			return append(slices.Clone(s[:s.first()]), s[s.lastText()], s[s.first()])
		}},
		{"a record is broken between two members, and stands once more behind the end", "2.1.100", "thinking", "2.1.330", 1, func(s Session) Session {
			i := s.endOfTurn()
			at := bytes.Index(s[i], []byte(`,"stop_reason"`)) + 1
			s = append(slices.Clone(s), s[i])
			return slices.Insert(s.with(i, s[i][:at]), i+1, s[i][at:])
		}},
		{"the first answer once more behind a compaction, where it hangs on nothing", "2.1.215", "compact", "2.1.330", 0.37, func(s Session) Session {
			i, end := s.find(0, isText), mark(s)+9
			return append(append(slices.Clone(s[:end]), Set(s[i], "", "parentUuid", "null")), s[i+1:i+6]...)
		}},
		{"the last answer is moved to behind the first prompt, and its own prompt is lost", "1.0.17", "image", "2.1.330", 0.83, func(s Session) Session {
			i, end := s.first(), s.lastText()
			return slices.Insert(s.without(s.second(), end), i+1, s[end])
		}},
		{"the last prompt and its answer have changed places, and a bit is wrong in what names the end", "2.1.215", "image", "2.1.330", 1, func(s Session) Session {
			i, end, named := s.second(), s.lastText(), s.lastPrompt()
			s = s.with(named, bytes.Replace(s[named], []byte(`","sessionId"`), []byte(` ,"sessionId"`), 1))
			return s.with(i, s[end]).with(end, s[i])
		}},
		{"an end is cut off and glued to another client's older prompt, and a call is lost", "2.0.29", "resumed", "2.1.330", 1, func(s Session) Session {
			i, end := s.midText(), s.lastText()
			p, a := branch(s[i], 0, "9")
			cut := s[end][:bytes.Index(s[end], []byte(`"uuid"`))]
			return append(s[:end].without(i+1), append(cut, p...), a)
		}},
		{"the first part of an answer is moved to the end under another id", "1.0.17", "resumed", "2.1.330", 1, func(s Session) Session {
			i := s.midText()
			return append(s.without(i), Set(s[i], "", "uuid", `"`+otherID+`"`))
		}},
		{"a prompt is moved to the front, and hangs on an output", "2.0.29", "thinking", "2.1.330", 1, func(s Session) Session {
			i := s.second()
			moved := Set(s[i], "", "parentUuid", `"`+get(s[s.firstOut()], "uuid")+`"`)
			return slices.Insert(s.without(i), s.first(), moved)
		}},
		{"the last answer once more, with a wrong character beside its words", "1.0.17", "image", "2.1.330", 1, func(s Session) Session {
			last := s[s.lastText()]
			return append(slices.Clone(s), bytes.Replace(last, []byte(`"input_tokens":1`), []byte(`"input_tokens":9`), 1))
		}},
		{"a prompt hangs on the first of two outputs, far above the end of the turn", "2.1.100", "resumed", "2.1.330", 1, func(s Session) Session {
			i := s.second()
			return s.with(i, Set(s[i], "", "parentUuid", `"`+get(s[s.firstOut()], "uuid")+`"`))
		}},
		{"a prompt hangs on a call, and another client's turn on the end", "2.1.2", "checkpoint", "2.1.2", 1, func(s Session) Session {
			i := s.second()
			p, a := branch(s[s.endOfTurn()], 40*time.Second, "9")
			s = s.with(i, Set(s[i], "", "parentUuid", `"`+get(s[s.editCall()], "uuid")+`"`))
			return append(slices.Insert(s, i, p), a)
		}},
		{"the mark of a compaction has a parent, and another client goes on in front of it", "2.1.2", "compact", "2.1.2", 1, func(s Session) Session {
			p, a := branch(s[s.midText()], 0, "9")
			at := mark(s)
			s = s.with(at, Set(s[at], "", "parentUuid", `"`+get(s[s.firstOut()], "uuid")+`"`))
			return append(slices.Insert(s, s.second()+1, p), a)
		}},
		{"what follows a summary hangs in front of the compaction, and has changed places with the next record", "2.1.2", "compact", "2.1.2", 1, func(s Session) Session {
			i := mark(s) + 2
			wrong := Set(s[i], "", "parentUuid", `"`+get(s[s.firstOut()], "uuid")+`"`)
			return s.with(i, s[i+1]).with(i+1, wrong)
		}},
		{"an output once more behind the end, with NULs in its words", "2.1.215", "resumed", "2.1.330", 1, func(s Session) Session {
			return append(slices.Clone(s), bytes.Replace(s[s.editOut()], []byte("has been updated"), []byte("has\x00\x00\x00\x00\x00updated"), 1))
		}},
		{"what the client adds to the first prompt stands in front of it, and hangs on nothing", "2.1.100", "image", "2.1.330", 1, func(s Session) Session {
			i := s.first()
			return s.with(i, Set(s[i+1], "", "parentUuid", `"`+otherID+`"`)).with(i+1, s[i])
		}},
		{"the first prompt has a time far ahead", "1.0.17", "thinking", "2.1.330", 1, func(s Session) Session {
			i := s.first()
			return s.with(i, bytes.Replace(s[i], []byte(`"timestamp":"20`), []byte(`"timestamp":"21`), 1))
		}},
		{"a prompt and a part of its answer have changed places, and the part is cut off", "2.0.29", "resumed", "2.1.330", 1, func(s Session) Session {
			i := s.second()
			cut := s[i+1][:bytes.Index(s[i+1], []byte(`"uuid"`))]
			return s.with(i, cut).with(i+1, s[i])
		}},
		{"the last answer stands in front of all, and its prompt and the end of the turn before are lost", "2.1.2", "subagent", "2.1.330", 0.7, func(s Session) Session {
			i, end := s.second(), s.lastText()
			return slices.Insert(s.without(s.endOfTurn(), i, end), s.first(), s[end])
		}},
		{"the mark of a compaction is lost, and the end of the last turn in front of it is there once more behind all", "2.1.215", "compact", "2.1.330", 1, func(s Session) Session {
			at := mark(s)
			i := at
			for !bytes.Contains(s[i], []byte(`"tool_result"`)) {
				i--
			}
			return append(s.without(at), s[i:i+3]...) // the output, the answer, and that this is the end
		}},
	}
}

// TestSeveral: after the repair of such sessions, as much is sent as can be, and nothing twice.
func TestSeveral(t *testing.T) {
	for _, d := range severals() {
		t.Run(d.name, func(t *testing.T) {
			s, id := recording(t, d.version, d.scenario)
			damaged := d.do(s)
			if bytes.Equal(damaged.Bytes(), s.Bytes()) {
				t.Fatal("nothing is damaged")
			}
			resume := modelled(d.reader)
			whole, _, _ := resume(t, id, s.Bytes())
			before, _, _ := resume(t, id, damaged.Bytes())
			fixed, _ := mend(t, damaged.Bytes(), lint.Options{})
			after, _, _ := resume(t, id, fixed)
			if had, has := Share(before, whole), Share(after, whole); has < d.of || has < had {
				t.Errorf("%.2f is sent before, %.2f after the repair", had, has)
			}
			if sentTwice(after, whole, before) || outOfOrder(after, whole) {
				t.Errorf("something is sent twice or out of order: %v", after)
			}
		})
	}
}
