package repair

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hist-cli/hist/lint"
)

// worstTrees are sessions of Claude Code, of about n records each, the worst that is known for a family of its rules.
var worstTrees = map[string]func(n int) string{
	"a healthy chat":          func(n int) string { return tree(n, says, nil) },
	"healthy calls":           func(n int) string { return tree(n, works, nil) },
	"records without parents": changed(says, func(i int, r *treeRecord) { r.parent = "" }),
	"prompts without parents": changed(says, func(i int, r *treeRecord) {
		if i%2 == 0 {
			r.parent = ""
		}
	}),
	"answers without parents": changed(says, func(i int, r *treeRecord) {
		if i%2 == 1 {
			r.parent = ""
		}
	}),
	"calls without parents":        changed(works, func(i int, r *treeRecord) { r.parent = "" }),
	"records of another session":   strangers,
	"parents that are gone":        changed(says, func(i int, r *treeRecord) { r.parent = gone(i) }),
	"jumps of the clock":           changed(says, jumps),
	"parallel calls without ids":   withoutIDs,
	"parallel calls of one record": besideOneCall,
	"one parent that is gone":      changed(says, func(i int, r *treeRecord) { r.parent = gone(0) }),
	"calls that hang on what is gone": changed(works, func(i int, r *treeRecord) {
		r.parent = gone(i)
		r.source = ""
	}),
	"answers on both sides of a mark": answersAround,
	"one long circle": func(n int) string {
		return changed(says, func(i int, r *treeRecord) { r.parent = id((i + n - 1) % n) })(n)
	},
	"a long circle backwards": func(n int) string {
		return changed(says, func(i int, r *treeRecord) { r.parent = id((i + 1) % n) })(n)
	},
	"calls in one record of pi": func(n int) string {
		return piAnswer(n, `,{"type":"toolCall","id":"call_%d","name":"bash","arguments":{}}`)
	},
	"results of pi without calls": func(n int) string { return piAnswer(0, "") + piResults(n, "call_%d") },
	"calls of pi with one id": func(n int) string {
		return piAnswer(n, `,{"type":"toolCall","id":"call_1","name":"bash","arguments":{}}`) + piResults(n, "call_1")
	},
	"calls and results of pi that name others": func(n int) string {
		return piAnswer(n, `,{"type":"toolCall","id":"call_x%d","name":"bash","arguments":{}}`) + piResults(n, "call_%d")
	},
	"one id for all": changed(says, func(i int, r *treeRecord) {
		if i > 0 {
			r.uuid, r.parent = id(0), id(0)
		}
	}),
	"many circles":      changed(says, func(i int, r *treeRecord) { r.parent = id(i ^ 1) }),
	"their own parents": changed(says, func(i int, r *treeRecord) { r.parent = r.uuid }),
	"children in front": func(n int) string { return changed(says, func(i int, r *treeRecord) { r.parent = below(i+1, n) })(n) },
	"prompts that are gone": func(n int) string {
		return tree(2*n, says, func(i int, r *treeRecord) bool { return i%2 == 1 })
	},
	"answers that are gone": func(n int) string {
		return tree(2*n, says, func(i int, r *treeRecord) bool { return i%2 == 0 })
	},
	"outputs that are gone": func(n int) string {
		return tree(2*n, works, func(i int, r *treeRecord) bool { return i == 0 || i%2 == 1 })
	},
	"calls that are gone": func(n int) string {
		return tree(2*n, works, func(i int, r *treeRecord) bool { return i == 0 || i%2 == 0 })
	},
	"calls without output": changed(says, func(i int, r *treeRecord) {
		if i%2 == 1 {
			r.content = tellsCall(fmt.Sprintf("toolu_%d", i))
		}
	}),
	"calls of an answer that broke off": func(n int) string {
		return changed(says, func(i int, r *treeRecord) {
			if i > 0 && i < n-1 {
				r.role, r.content, r.msg = "assistant", tellsCall(fmt.Sprintf("toolu_%d", i)), "1"
			} else if i > 0 {
				r.role, r.content = "assistant", `[{"type":"text","text":"x"}]`
			}
		})(n)
	},
	"outputs without call": changed(works, func(i int, r *treeRecord) {
		r.content, r.source = strings.ReplaceAll(r.content, `"tool_use_id":"toolu_`, `"tool_use_id":"toolu_x`), ""
		if i%2 == 1 {
			r.content = `[{"type":"text","text":"x"}]`
		}
	}),
	"calls with one id": changed(works, func(i int, r *treeRecord) {
		if i > 0 {
			r.content = strings.NewReplacer(fmt.Sprintf("toolu_%d", i), "toolu_1", fmt.Sprintf("toolu_%d", i-1), "toolu_1", `"ls"`, fmt.Sprintf(`"ls %d"`, i)).Replace(r.content)
		}
	}),
	"the same call again": changed(works, func(i int, r *treeRecord) {
		if i > 0 {
			r.content = strings.NewReplacer(fmt.Sprintf("toolu_%d", i), "toolu_1", fmt.Sprintf("toolu_%d", i-1), "toolu_1").Replace(r.content)
		}
		if r.role == "assistant" {
			r.msg = "msg_1"
		}
	}),
	"calls with a wrong id": changed(works, func(i int, r *treeRecord) { r.content = strings.ReplaceAll(r.content, "toolu_", "call ") }),
	"outputs of one call": changed(works, func(i int, r *treeRecord) {
		if i > 1 && i%2 == 0 {
			r.content = tellsOutput("toolu_1")
		}
	}),
	"parallel calls of one answer": func(n int) string {
		return changed(works, func(i int, r *treeRecord) {
			if i%2 == 1 {
				r.msg, r.parent = "msg_1", id(max(0, i-2))
			}
		})(n)
	},
	"calls first, outputs later": callsThenOutputs(func(i, n int) int { return i - n/2 }),
	"late outputs": changed(says, func(i int, r *treeRecord) {
		switch i % 4 {
		case 1:
			r.content = tellsCall(fmt.Sprintf("toolu_%d", i))
		case 2:
			r.parent = id(i - 1)
		case 3:
			r.role, r.content, r.source = "user", tellsOutput(fmt.Sprintf("toolu_%d", i-2)), id(i-2)
		}
	}),
	"a fork of two long sides": func(n int) string {
		return changed(says, func(i int, r *treeRecord) {
			if i == n/2/2*2 {
				r.parent = id(1)
			}
		})(n)
	},
	"many forks": changed(says, func(i int, r *treeRecord) {
		if i > 3 && i%2 == 0 {
			r.parent = id(1)
		}
	}),
	"forks in one another": changed(says, func(i int, r *treeRecord) {
		if i > 3 && i%4 == 2 {
			r.parent = id(i - 3)
		}
	}),
	"forks in the middle of turns": changed(works, func(i int, r *treeRecord) {
		if i > 4 && i%4 == 1 {
			r.parent = id(i - 4)
		}
	}),
	"unanswered calls on one prompt": changed(works, func(i int, r *treeRecord) {
		if i > 0 {
			r.role, r.parent, r.content, r.source, r.second = "assistant", id(0), tellsCall(fmt.Sprint("toolu_", i)), "", 1
		}
	}),
	"a chain of an unknown type": changed(says, func(i int, r *treeRecord) {
		if i > 1 {
			r.role, r.content = "unheard-of", ""
		}
	}),
	"a chain of an unknown type, children in front": func(n int) string {
		return changed(says, func(i int, r *treeRecord) {
			if r.parent = below(i+1, n); i > 1 {
				r.role, r.content = "unheard-of", ""
			}
		})(n)
	},
	"many on one of an unknown type": changed(says, func(i int, r *treeRecord) {
		if i == 2 {
			r.role = "unheard-of"
		} else if i > 2 {
			r.parent = id(2)
		}
	}),
	"roots behind what hangs on them": func(n int) string {
		half := n / 2
		return changed(says, func(i int, r *treeRecord) {
			if r.parent = gone(i); i < half {
				r.parent = id(n - 1 - i) // the last of the first half hangs on the first of the second
			}
		})(n)
	},
	"attachments, then errors without parents": func(n int) string {
		return changed(says, func(i int, r *treeRecord) {
			switch {
			case i > n/2:
				r.role, r.content, r.more, r.parent, r.msg = "assistant", `[{"type":"text","text":"error"}]`, `"isApiErrorMessage":true,`, gone(i), fmt.Sprint(i)
			case i > 1:
				r.role = "attachment"
			}
		})(n)
	},
	"unanswered calls of one answer": func(n int) string {
		return changed(says, func(i int, r *treeRecord) {
			if i > 0 && i < n-1 {
				r.role, r.content, r.msg = "assistant", tellsCall(fmt.Sprintf("toolu_%d", i)), "msg_1"
			}
			if i == n-1 {
				r.role, r.content = "user", `"go on"`
			}
		})(n)
	},
	"outputs side by side, and one call without": func(n int) string {
		half := n / 2
		return changed(works, func(i int, r *treeRecord) {
			switch {
			case i == 0:
			case i == n-1:
				r.role, r.content, r.source, r.parent = "user", `"go on"`, "", id(half)
			case i <= half:
				r.role, r.content, r.msg, r.source, r.parent = "assistant", tellsCall(fmt.Sprintf("toolu_%d", i)), "msg_1", "", id(i-1)
			default: // each hangs on its call; the last call has none
				r.role, r.content, r.source, r.parent = "user", tellsOutput(fmt.Sprintf("toolu_%d", i-half)), id(i-half), id(i-half)
			}
		})(n)
	},
	"two branches of one answer": func(n int) string {
		half := n / 2
		return changed(says, func(i int, r *treeRecord) {
			if i > 0 && i < n-1 {
				r.role, r.content, r.msg = "assistant", fmt.Sprintf(`[{"type":"text","text":"part %d"}]`, i), "msg_1"
			}
			if i == half {
				r.parent = id(0)
			}
		})(n)
	},
	"unanswered calls, then attachments": func(n int) string {
		return changed(says, func(i int, r *treeRecord) {
			switch {
			case i == n-1:
				r.role, r.content = "user", `"go on"`
			case i > n/2:
				r.role = "attachment"
			case i > 0:
				r.role, r.content, r.msg = "assistant", tellsCall(fmt.Sprintf("toolu_%d", i)), "msg_1"
			}
		})(n)
	},
	"late outputs backwards": callsThenOutputs(func(i, n int) int { return n - i }),
	"late outputs of one answer": func(n int) string {
		half := n / 2
		return changed(works, func(i int, r *treeRecord) {
			switch {
			case i == half:
				r.role, r.content = "user", `"a prompt between"`
			case i > half:
				r.role, r.content, r.source = "user", tellsOutput(fmt.Sprintf("toolu_%d", i-half)), id(i-half)
			case i > 0:
				r.role, r.content, r.msg = "assistant", tellsCall(fmt.Sprintf("toolu_%d", i)), "msg_1"
			}
		})(n)
	},
	"calls without ids": changed(works, func(i int, r *treeRecord) {
		r.content = strings.NewReplacer(fmt.Sprintf("toolu_%d", i), "", fmt.Sprintf("toolu_%d", i-1), "").Replace(r.content)
	}),
	"calls of one record, outputs of none": func(n int) string {
		return changed(works, func(i int, r *treeRecord) {
			switch {
			case i == 1:
				var calls []string
				for k := range n {
					calls = append(calls, strings.Trim(tellsCall(fmt.Sprintf("toolu_%d", k)), "[]"))
				}
				r.role, r.content = "assistant", "["+strings.Join(calls, ",")+"]"
			case i > 1:
				r.role, r.content, r.source = "user", tellsOutput(fmt.Sprintf("toolu_x%d", i)), id(1)
			}
		})(n)
	},
	"marks of compactions at the end": func(n int) string {
		return changed(says, func(i int, r *treeRecord) {
			if i > 1 {
				r.role, r.content, r.parent = "system", "", ""
				r.more = `"subtype":"compact_boundary","compactMetadata":{"trigger":"auto"},"logicalParentUuid":"` + id(i-1) + `",`
			}
		})(n)
	},
	"calls of one record at the end": func(n int) string {
		return strings.Join(strings.SplitAfter(oneAnswer("toolu_%d", "")(n), "\n")[:2], "")
	},
	"calls of one record at the end, all but one of them answered": func(n int) string {
		text := strings.Join(strings.SplitAfter(oneAnswer("toolu_%d", "toolu_%d")(n), "\n")[:2], "")
		for i := range n - 1 {
			text += treeRecord{uuid: id(i + 2), parent: id(max(1, i+1)), role: "user", content: tellsOutput(fmt.Sprintf("toolu_%d", i)), source: id(1), second: i + 2}.line()
		}
		return strings.ReplaceAll(text, `"2.1.330"`, `"2.1.2"`)
	},
	"calls of records of one answer at the end": func(n int) string {
		return changed(says, func(i int, r *treeRecord) {
			if i > 0 {
				r.role, r.content, r.msg = "assistant", tellsCall(fmt.Sprintf("toolu_%d", i)), "msg_1"
			}
		})(n)
	},
	"calls of one record without output":              oneAnswer("toolu_%d", ""),
	"calls of one record, outputs of another":         oneAnswer("toolu_%d", "toolu_%d"),
	"calls of one record with wrong ids":              oneAnswer("call %d", "call %d"),
	"calls of one record with one id":                 oneAnswer("toolu_1", "toolu_1"),
	"calls of one record with one id, without output": oneAnswer("toolu_1", ""),
	"the same records again":                          func(n int) string { return tree(n/2, works, nil) + tree(n/2, works, nil) },
	"conversations written anew": changed(says, func(i int, r *treeRecord) {
		if i%64 == 0 {
			r.parent = ""
		}
		r.content = strings.NewReplacer(fmt.Sprint(i), fmt.Sprint(i%64)).Replace(r.content)
	}),
	"a sub-agent's records": changed(says, func(i int, r *treeRecord) {
		if i > 1 {
			r.more = `"isSidechain":true,`
		}
	}),
	"answers without their beginnings behind a sub-agent": func(n int) string {
		half := n / 2
		subagent := changed(says, func(i int, r *treeRecord) {
			if i > 1 {
				r.more = `"isSidechain":true,`
			}
		})(half)
		var rests strings.Builder
		for i := half; i < n; i++ {
			_, rest, _ := strings.Cut(treeRecord{uuid: id(i), role: "assistant", content: `[{"type":"text","text":"the end"}]`, second: i}.line(), `"type":"text",`)
			rests.WriteString("~~~" + rest)
		}
		return subagent + rests.String()
	},
	"sub-agents between": func(n int) string {
		return changed(says, func(i int, r *treeRecord) {
			r.parent = id(i - 4)
			if i%4 > 1 {
				r.more = `"isSidechain":true,`
			} else if i%4 == 1 {
				r.parent = id(i - 1)
			} else if i > 0 {
				r.parent = id(i - 3)
			}
		})(n)
	},
	"a sub-agent without parents": changed(says, func(i int, r *treeRecord) {
		if i > 1 {
			r.more, r.parent = `"isSidechain":true,`, ""
		}
		if i%64 == 0 {
			r.more = ""
		}
	}),
	"records without id": changed(says, func(i int, r *treeRecord) {
		if i%2 == 1 {
			r.uuid = ""
		}
	}),
	"records with one id": changed(says, func(i int, r *treeRecord) { r.uuid = id(0) }),
	"records of an unknown type": changed(says, func(i int, r *treeRecord) {
		if i%4 > 1 {
			r.role = "unheard-of"
		}
	}),
	"empty prompts": changed(says, func(i int, r *treeRecord) {
		if i%2 == 0 {
			r.content = `""`
		}
	}),
	"empty answers": changed(says, func(i int, r *treeRecord) {
		if i%2 == 1 {
			r.content = `[{"type":"text","text":""}]`
		}
	}),
	"summaries without marks": changed(says, func(i int, r *treeRecord) {
		if i%2 == 0 {
			r.more, r.parent = `"isCompactSummary":true,`, ""
		}
	}),
	"compactions without summaries": compactions,
	"no times": func(n int) string {
		return strings.ReplaceAll(changed(says, func(i int, r *treeRecord) { r.version, r.parent = "2.1.2", gone(i) })(n), `"timestamp"`, `"t"`)
	},
	"one time": changed(says, func(i int, r *treeRecord) { r.second, r.parent = 0, gone(i) }),
	"what followed a compaction in front of its mark": func(n int) string {
		var text strings.Builder
		var kept []string
		for i := range n - 1 {
			r := says(i)
			if i < n/2 {
				kept = append(kept, `"`+r.uuid+`"`)
			} else if i == n/2 {
				r.parent = id(n - 1)
			}
			text.WriteString(r.line())
		}
		mark := treeRecord{uuid: id(n - 1), role: "system", second: n}
		mark.more = `"subtype":"compact_boundary","compactMetadata":{"trigger":"auto","preservedMessages":{"uuids":[` + strings.Join(kept, ",") + `]}},`
		return text.String() + mark.line()
	},
	"last prompts": func(n int) string {
		return tree(n, func(i int) treeRecord {
			r := says(i)
			if i%2 == 1 {
				r.parent = gone(i)
			}
			return r
		}, nil) + each(n, `{"type":"queue-operation","operation":"enqueue","timestamp":"2026-11-20T10:01:25.000Z","sessionId":"7c1f0b1e-5a0e-4d53-9a6b-0f5d3f6f2a11","content":"word %d"}`+"\n")
	},
	"empty texts in one record": func(n int) string {
		return tree(4, says, func(i int, r *treeRecord) bool {
			if i == 1 {
				r.version, r.content = "2.1.100", "["+strings.Repeat(`{"type":"text","text":" "},`, n)+`{"type":"text","text":"an answer"}]`
			}
			return true
		})
	},
	"unsigned thinking in one record": func(n int) string {
		return tree(4, says, func(i int, r *treeRecord) bool {
			if i == 1 {
				r.content = "[" + strings.Repeat(unsigned+",", n) + `{"type":"text","text":"an answer"}]`
			}
			return true
		})
	},
	"unsigned thinking in front of prompts": changedOf(says, func(i, n int, r *treeRecord) {
		if r.role, r.content = "user", `"a prompt"`; i > 0 && i < n/2 {
			r.role, r.content = "assistant", "["+unsigned+`,{"type":"text","text":"an answer"}]`
		}
	}),
	"outputs that hang on each other's calls": changedOf(works, func(i, n int, r *treeRecord) {
		r.version, r.source = "1.0.128", ""
		switch {
		case i == 1 || i == 2:
			r.role, r.content = "assistant", tellsCall(fmt.Sprintf("toolu_%d", i))
		case i > 2:
			r.role, r.content, r.parent = "user", tellsOutput("toolu_1"), id(2)
			if i > n/2 {
				r.content = tellsOutput("toolu_2")
			}
		}
	}),
}

// piAnswer is a session of pi with one answer of n calls.
func piAnswer(n int, call string) string {
	return `{"type":"session","version":3,"id":"01a21a42-5028-7117-8a5b-1c9bd2accad7","timestamp":"2026-11-20T10:00:00.000Z","cwd":"/home/dev"}` + "\n" +
		`{"type":"message","id":"00000000","parentId":null,"timestamp":"2026-11-20T10:00:01.000Z","message":{"role":"assistant","content":[{"type":"text","text":"x"}` +
		each(n, call) + `],"stopReason":"toolUse"}}` + "\n"
}

// piResults are n results behind it, each of a call.
func piResults(n int, call string) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, `{"type":"message","id":"%08d","parentId":"%08d","timestamp":"2026-11-20T10:00:02.000Z","message":{"role":"toolResult","toolCallId":"%s","toolName":"bash","content":[{"type":"text","text":"ok"}],"isError":false}}`+"\n",
			i+1, i, strings.ReplaceAll(call, "%d", fmt.Sprint(i)))
	}
	return text.String()
}

// TestLinearTrees is TestLinear for sessions of Claude Code.
func TestLinearTrees(t *testing.T) {
	hist := countingHist(t)
	for name, input := range worstTrees {
		t.Run(name, func(t *testing.T) { hist.linear(t, input) })
	}
}

// TestTooManyBranches: a file with more branches than anybody talks in is told of once, and the rest of it is mended.
func TestTooManyBranches(t *testing.T) {
	text := worstTrees["many forks"](600) + `{"parentUuid":"` + id(599) + `"` + "\n"
	out, rep, err := repairText([]byte(text), "", Choice{})
	if err != nil || rep.Totals.SetAside != 1 || strings.Count(string(out), "\n") != 600 {
		t.Fatalf("%v, %+v", err, rep)
	}
	branches := 0
	for _, f := range lintText(t, out, "").Findings {
		if f.Rule.Name == "lost-branch" && f.Impact == lint.Loses {
			branches++
		}
	}
	if branches != 1 {
		t.Errorf("%d findings of branches", branches)
	}
}

// withoutIDs are turns with two calls in an answer that has no id, whose outputs hang each on its call.
func withoutIDs(n int) string {
	var text strings.Builder
	add := func(i, parent int, role, content string) {
		text.WriteString(treeRecord{uuid: id(i), parent: id(parent), role: role, msg: "none", content: content, second: i}.line())
	}
	for i := 0; i < n; i += 6 {
		pears, plums := fmt.Sprint("toolu_pears", i), fmt.Sprint("toolu_plums", i)
		add(i, i-1, "user", `"count"`)
		add(i+1, i, "assistant", tellsCall(pears))
		add(i+2, i+1, "assistant", tellsCall(plums))
		add(i+3, i+2, "user", tellsOutput(plums))
		add(i+4, i+1, "user", tellsOutput(pears))
		add(i+5, i+4, "assistant", `[{"type":"text","text":"counted"}]`)
	}
	return strings.ReplaceAll(text.String(), `"id":"none",`, "")
}

// besideOneCall is an answer without an id that makes n calls in one record, on which their outputs hang beside each other.
func besideOneCall(n int) string {
	calls := strings.TrimSuffix(each(n, strings.Trim(tellsCall("toolu_%d"), "[]")+","), ",")
	text := treeRecord{uuid: id(0), role: "user", content: `"count"`}.line() + treeRecord{uuid: id(1), parent: id(0), role: "assistant", msg: "none", content: "[" + calls + "]", second: 1}.line()
	for i := range n {
		text += treeRecord{uuid: id(i + 2), parent: id(1), role: "user", content: tellsOutput(fmt.Sprint("toolu_", i)), second: i + 2}.line()
	}
	text += treeRecord{uuid: id(n + 2), parent: id(n + 1), role: "assistant", msg: "none", content: `[{"type":"text","text":"counted"}]`, second: n + 2}.line()
	return strings.ReplaceAll(text, `"id":"none",`, "")
}

// TestManyWithoutIDs: the parallel calls of all answers without an id are put in a line, however many there are.
func TestManyWithoutIDs(t *testing.T) {
	for name, input := range map[string]struct {
		text  string
		items int64
	}{"in records of their own": {withoutIDs(900), 900}, "in one record": {besideOneCall(60), 122}} {
		t.Run(name, func(t *testing.T) {
			out, rep, err := repairText([]byte(input.text), "", Choice{})
			if err != nil || rep.Unrepaired() {
				t.Fatalf("%v, %+v", err, rep)
			}
			if found := listed(lintText(t, out, "")); strings.Contains(found, "lost-branch") {
				t.Error("left after the repair:\n" + found)
			}
			if h := rep.History; h.After != input.items {
				t.Errorf("history figures: %+v", h)
			}
		})
	}
}

// TestFarApart: an answer of many records, hung on one of them all, whose last one holds a call that an early one holds, too. The output
// that closes it stands behind the last record, however far that is.
func TestFarApart(t *testing.T) {
	var text strings.Builder
	const n, again = 400, 300
	for i := range n {
		r := treeRecord{uuid: id(i), parent: id(min(i, 1) - 1), role: "assistant", version: "2.1.2", msg: fmt.Sprint("msg_", i%again), content: tellsCall(fmt.Sprint("toolu_", i%again))}
		text.WriteString(r.line())
	}
	if err := laws(t, mutant{text: []byte(text.String())}); err != nil {
		t.Error(err)
	}
}
