package repair

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/api"
	"github.com/hist-cli/hist/internal/testkit/damage"
	"github.com/hist-cli/hist/lint"
)

// row is a row of testing/api/limits.tsv.
type row struct {
	kind, field, check, want string
	providers                []string
	when, mend               string
}

func (r row) String() string { return r.kind + " " + r.field + " " + r.check + " " + r.want }

// limitRows are all of them.
func limitRows(t *testing.T) (rows []row) {
	t.Helper()
	text, err := os.ReadFile("../testing/api/limits.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n")[1:] {
		c := strings.Split(strings.TrimSpace(line), "\t")
		rows = append(rows, row{c[0], c[1], c[2], c[3], strings.Split(c[4], ","), c[5], c[6]})
	}
	return rows
}

// TestProviders: what the table says that a provider refuses is found in a session of that provider, and not in one of a provider that is not known
// to refuse it; the copy has it no more.
func TestProviders(t *testing.T) {
	for _, r := range limitRows(t) {
		items, ok := brokenItems(r)
		if !ok {
			continue
		}
		for _, provider := range api.Providers {
			agentName := "codex"
			if provider == "anthropic" || provider == "gateway" {
				agentName = "claude"
			}
			if takesBlocks := strings.Contains("anthropic gateway", r.providers[0]); takesBlocks != (agentName == "claude") {
				continue
			}
			t.Run(fmt.Sprint(r, "/", provider), func(t *testing.T) {
				providerTakes(t, r, provider, damage.Session(agentName, items), slices.Contains(r.providers, provider))
			})
		}
	}
}

// providerTakes looks for a broken item in a session of a provider, or in one that is to go on with it.
func providerTakes(t *testing.T, r row, provider string, s damage.Refused, refuses bool) {
	opts := lint.Options{Agent: s.Agent}
	switch {
	case r.when == "change" || r.when == "named" || provider == "gateway":
		opts.Provider = provider
	case provider == "chatgpt":
		opts.Provider = provider
	default:
		s.Data = bytes.Replace(s.Data, []byte(`"model_provider":"openai"`), fmt.Appendf(nil, `"model_provider":%q`, provider), 1)
	}
	found := func(text []byte) string {
		res, err := lint.Session(context.Background(), bytes.NewReader(text), opts)
		if err != nil {
			t.Fatal(err)
		}
		for i := range res.Findings {
			if f := &res.Findings[i]; f.Impact >= lint.Loses && f.Covers(s.Line) {
				return f.Message
			}
		}
		return ""
	}
	if !refuses && provider == "gateway" && r.when != "change" {
		return // no session says that it is a gateway's
	}
	what := found(s.Data)
	if what == "" && refuses && r.check == "answered-once" && provider == "anthropic" {
		return // the client sends the first alone
	}
	if (what != "") != refuses {
		t.Fatalf("found: %q", what)
	}
	if !refuses {
		return
	}
	out, _, err := repairAs(s.Data, opts, Choice{})
	if err != nil {
		t.Fatal(err)
	}
	if what := found(out); what != "" {
		t.Errorf("left: %s", what)
	}
	sent, err := all.Named(s.Agent).ReadSent(out, agent.ReadAt{}, "")
	if err != nil || sent.Refused != "" {
		t.Fatal(sent, err)
	}
	for _, p := range api.Invalid(sent, provider) {
		t.Errorf("sent: line %d: %s", sent.Items[p.Item].Pos.Line, p.Fault.What)
	}
}

// TestHealthyIsTaken: nothing that is sent of a healthy session is what the table says that its provider refuses.
func TestHealthyIsTaken(t *testing.T) {
	except := []string{
		"tool-name-that-the-model-made-up",                                                // the API takes what its model wrote
		"subagent-prefix-calls", "subagent-prefix-nested", "subagent-prefix-nested-inner", // the stand-in encrypts nothing
	}
	for name, provider := range map[string]string{"codex": "openai", "claude": "anthropic"} {
		for _, pattern := range []string{"healthy/*/session.jsonl", "[0-9]*/*/*.jsonl"} {
			paths, err := filepath.Glob(filepath.Join("../fixtures", name, pattern))
			if err != nil || len(paths) == 0 {
				t.Fatal(err)
			}
			for _, path := range paths {
				text, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				sent, err := all.Named(name).ReadSent(text, agent.ReadAt{}, "")
				if err != nil || sent.Refused != "" || slices.Contains(except, filepath.Base(filepath.Dir(path))) {
					continue
				}
				for _, p := range api.Invalid(sent, provider) {
					t.Errorf("%s: line %d: %s", path, sent.Items[p.Item].Pos.Line, p.Fault.What)
				}
			}
		}
	}
}

// brokenItems are items of which one is what a row refuses; false if no session shows that by itself.
func brokenItems(r row) (items []string, ok bool) {
	const (
		call   = `{"type":"function_call","id":"fc_1","name":"exec_command","arguments":"{\"cmd\":\"ls\"}","call_id":"call_1"}`
		output = `{"type":"function_call_output","call_id":"call_1","output":"beds.csv"}`
		use    = `{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"ls"}}`
		result = `u {"type":"tool_result","tool_use_id":"toolu_1","content":"beds.csv"}`
		words  = `{"type":"text","text":"Three beds."}`
		sealed = `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAAAABtZXJlLXRlc3Q="}`
	)
	long := strings.Repeat("x", 300)
	in := func(old, new, of string) string { return strings.Replace(of, old, new, 1) }
	// withID are an item of each kind, and what it needs beside it.
	withID := map[string][]string{
		"message":                 {`!{"type":"message","id":"@","role":"assistant","content":[{"type":"output_text","text":"Three."}]}`},
		"reasoning":               {"!" + in("rs_1", "@", sealed), call, output},
		"function_call":           {"!" + in("fc_1", "@", call), output},
		"function_call_output":    {call, "!" + in(`,"call_id"`, `,"id":"@","call_id"`, output)},
		"custom_tool_call":        {`!{"type":"custom_tool_call","id":"@","call_id":"call_1","name":"exec","input":"ls"}`, `{"type":"custom_tool_call_output","call_id":"call_1","output":"beds.csv"}`},
		"custom_tool_call_output": {`{"type":"custom_tool_call","id":"ctc_1","call_id":"call_1","name":"exec","input":"ls"}`, `!{"type":"custom_tool_call_output","id":"@","call_id":"call_1","output":"beds.csv"}`},
		"local_shell_call":        {`!{"type":"local_shell_call","id":"@","call_id":"call_1","status":"completed","action":{"type":"exec","command":["ls"]}}`, output},
		"tool_search_call":        {`!{"type":"tool_search_call","id":"@","call_id":"call_1","status":"completed","execution":"client","arguments":{"query":"beds"}}`, `{"type":"tool_search_output","call_id":"call_1","status":"completed","execution":"client","tools":[]}`},
		"tool_search_output":      {`{"type":"tool_search_call","call_id":"call_1","status":"completed","execution":"client","arguments":{"query":"beds"}}`, `!{"type":"tool_search_output","id":"@","call_id":"call_1","status":"completed","execution":"client","tools":[]}`},
		"web_search_call":         {`!{"type":"web_search_call","id":"@","status":"completed","action":{"type":"search","query":"beds"}}`},
		"image_generation_call":   {`!{"type":"image_generation_call","id":"@","status":"completed","result":"aGVsbG8="}`},
		"compaction":              {`!{"type":"compaction","id":"@","encrypted_content":"gAAAAABtZXJlLXRlc3Q="}`},
		"agent_message":           {`!{"type":"agent_message","author":"scout","recipient":"root","content":[{"type":"input_text","text":"Three beds."}]}`},
	}
	named := func(id string, items []string) (out []string) {
		for _, it := range items {
			out = append(out, strings.ReplaceAll(it, "@", id))
		}
		return out
	}
	message := func(role, parts string) []string {
		return []string{`!{"type":"message","role":"` + role + `","content":[` + parts + `]}`}
	}
	think := `{"type":"thinking","thinking":"Counting.","signature":"c2lnbmVk"}`
	switch {
	case r.field == "id" && r.check == "prefix" && r.kind != "server_tool_use":
		return named("call_00_abc", withID[r.kind]), true
	case r.when == "change" && withID[r.kind] != nil:
		return named(map[string]string{"custom_tool_call": "ctc_1", "custom_tool_call_output": "ctco_1", "tool_search_call": "tsc_1", "tool_search_output": "tso_1", "local_shell_call": "lsh_1", "web_search_call": "ws_1", "image_generation_call": "ig_1"}[r.kind], withID[r.kind]), true
	}
	switch r.String() {
	case "* id chars A-Za-z0-9_-":
		return named("fc_a b", withID["function_call"]), true
	case "* id longest 64":
		return named("fc_"+long[:80], withID["function_call"]), true
	case "* call_id shortest 1":
		return []string{"!" + in("call_1", "", call), in("call_1", "", output)}, true
	case "* call_id longest 64":
		return []string{"!" + in("call_1", long[:85], call), in("call_1", long[:85], output)}, true
	case "* name shortest 1":
		return []string{"!" + in("exec_command", "", call), output}, true
	case "* name longest 64":
		return []string{"!" + in("exec_command", long[:70], call), output}, true
	case "* name chars A-Za-z0-9_.:/-":
		return []string{"!" + in("exec_command", "exec command", call), output}, true
	case "* arguments longest 1048576":
		return []string{"!" + in("ls", strings.Repeat("y", 1<<20), call), output}, true
	case "* input longest 1048576":
		return []string{`!{"type":"custom_tool_call","call_id":"call_1","name":"exec","input":"` + strings.Repeat("y", 1<<20+1) + `"}`, `{"type":"custom_tool_call_output","call_id":"call_1","output":"y"}`}, true
	case "* output longest 10485760":
		return []string{call, "!" + in("beds.csv", strings.Repeat("y", 10<<20+1), output)}, true
	case "function_call arguments longest-key 256":
		return []string{"!" + in("cmd", long, call), output}, true
	case "reasoning encrypted_content prefix gAAAA":
		return []string{"!" + in("gAAAA", "EpQB", sealed), call, output}, true
	case "reasoning encrypted_content without REDACTED":
		return []string{"!" + in("BtZXJl", "[REDACTED]", sealed), call, output}, true
	case "agent_message content.encrypted_content sealed -":
		return []string{`!{"type":"agent_message","author":"scout","recipient":"root","content":[{"type":"encrypted_content","encrypted_content":"Three beds."}]}`}, true
	case "reasoning content most 0":
		return []string{"!" + in(`"summary":[]`, `"summary":[],"content":[{"type":"reasoning_text","text":"Counting."}]`, sealed), call, output}, true
	case "message content most 1000":
		return message("user", strings.TrimSuffix(strings.Repeat(`{"type":"input_text","text":"see"},`, 1204), ",")), true
	case "web_search_call action.type one-of search,open_page,find_in_page":
		return []string{`!{"type":"web_search_call","status":"completed","action":{"type":"other"}}`}, true
	case "message/user content.type not output_text,refusal":
		return message("user", `{"type":"output_text","text":"And the beds?"}`), true
	case "message/developer content.type not output_text,refusal":
		return message("developer", `{"type":"output_text","text":"And the beds?"}`), true
	case "message/assistant content.type not input_text":
		return message("assistant", `{"type":"input_text","text":"Three."}`), true
	case "function_call status absent -", "* namespace absent -", "* metadata absent -":
		return []string{"!" + in(`"name"`, `"`+r.field+`":"completed","name"`, call), output}, true
	case "text text blank -":
		return []string{`!u {"type":"text","text":" "}`}, true
	case "tool_use id shortest 1":
		return []string{"!" + in("toolu_1", "", use), in("toolu_1", "", result)}, true
	case "tool_use id chars A-Za-z0-9_-":
		return []string{"!" + in("toolu_1", "toolu:1", use), in("toolu_1", "toolu:1", result)}, true
	case "tool_use name chars A-Za-z0-9_-":
		return []string{"!" + in("Bash", "Ba sh", use), result}, true
	case "tool_use name shortest 1":
		return []string{"!" + in("Bash", "", use), result}, true
	case "tool_use name longest 200":
		return []string{"!" + in("Bash", long[:201], use), result}, true
	case "tool_use input json-type o":
		return []string{"!" + in(`{"command":"ls"}`, `"ls"`, use), result}, true
	case "server_tool_use id prefix srvtoolu":
		return []string{`!{"type":"server_tool_use","id":"web-1","name":"web_search","input":{"query":"beds"}}`, `{"type":"web_search_tool_result","tool_use_id":"web-1","content":[]}`, words}, true
	case "thinking signature required -":
		return []string{"!" + in(`,"signature":"c2lnbmVk"`, "", think), words}, true
	case "thinking signature shortest 1":
		return []string{"!" + in("c2lnbmVk", "", think), words}, true
	case "thinking signature chars A-Za-z0-9+/=_-":
		return []string{"!" + in("c2lnbmVk", "c2 ln", think), words}, true
	case "thinking signature without REDACTED":
		return []string{"!" + in("c2lnbmVk", "c2REDACTEDln", think), words}, true
	case "thinking thinking required -":
		return []string{"!" + in(`"thinking":"Counting.",`, "", think), words}, true
	case "redacted_thinking data required -":
		return []string{`!{"type":"redacted_thinking"}`, words}, true
	case "redacted_thinking data shortest 1":
		return []string{`!{"type":"redacted_thinking","data":""}`, words}, true
	case "image source.data longest 5242880":
		return []string{use, `!u {"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + strings.Repeat("iVBORw0KGgoAAAAN", 330_000) + `"}}]}`, words}, true
	case "block type one-of document,image,text,thinking,tool_result,tool_use":
		return []string{`!{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"beds"}}`, `{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]}`, words}, true
	case "block cache_control absent -":
		return []string{`!{"type":"text","text":"Three beds.","cache_control":{"type":"ephemeral"}}`}, true
	case "function_call call_id answered -":
		return []string{"!" + call}, true
	case "function_call_output call_id called -":
		return []string{"!" + output}, true
	case "function_call_output call_id answered-once -":
		return []string{call, output, "!" + in("beds", "more", output)}, true
	case "* call_id called-once -":
		return []string{call, output, "!" + in("ls", "pwd", call)}, true
	case "* id once -":
		return []string{call, output, "!" + strings.NewReplacer("call_1", "call_2", "ls", "pwd").Replace(call), in("call_1", "call_2", output)}, true
	case "tool_use id answered -":
		return []string{"!" + use, words}, true
	case "tool_result tool_use_id called -":
		return []string{words, "!" + result}, true
	case "tool_result tool_use_id answered-once -":
		return []string{use, result, "!" + in("beds", "more", result), words}, true
	case "tool_use id called-once -":
		return []string{use, result, "!" + in("ls", "pwd", use), words}, true
	case "server_tool_use id same-answer -":
		return []string{`!{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]}`, words}, true
	}
	return nil, false
}
