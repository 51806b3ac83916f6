package damage

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Refused is a session with one fault that an API refuses, as a client records it: with the API's error at its end.
type Refused struct {
	Row   int // of the error in testing/api/errors.tsv
	Agent string
	Data  []byte
	Line  int64 // of the record with the fault
	Error string
}

// RefusedSessions are sessions for each text that names a place or an id.
func RefusedSessions() (all []Refused) {
	for _, c := range ofResponses() {
		all = append(all, c.codex())
	}
	for _, c := range ofMessages() {
		all = append(all, c.claude())
	}
	return all
}

// Session is a session of an agent that holds items of a request, of which the one that begins with "!" is on Line; one that begins with "u " is
// the user's, any other the answer's.
func Session(agent string, items []string) Refused {
	c := refusalCase{0, items, ""}
	r := c.codex
	if agent == "claude" {
		r = c.claude
	}
	s := r()
	s.Data = s.Data[:bytes.LastIndexByte(s.Data[:len(s.Data)-1], '\n')+1]
	return s
}

// refusalCase is a session with one fault and the error with which an API refuses it: in items, the one with the fault begins with "!".
// In the error, @A is its place in the request as the Responses API counts, @B as the Messages API does.
type refusalCase struct {
	row   int
	items []string
	error string
}

const (
	goodCall   = `{"type":"function_call","id":"fc_1","name":"exec_command","arguments":"{\"cmd\":\"ls\"}","call_id":"call_1"}`
	goodOutput = `{"type":"function_call_output","call_id":"call_1","output":"beds.csv"}`
	reasoned   = `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAAAABtZXJlLXRlc3Q="}`
)

func callWith(member, value string) string {
	return "!" + strings.Replace(goodCall, member, value, 1)
}

// ofResponses are faults of what Codex sends.
func ofResponses() []refusalCase {
	long, image := strings.Repeat("x", 300), `{"type":"message","role":"user","content":[{"type":"input_text","text":"see"},{"type":"input_image","image_url":"%s"}]}`
	withImage := func(url string) string { return "!" + fmt.Sprintf(image, url) }
	say := func(msg, param string) string {
		return `{"error":{"message":` + quoteOf(msg) + `,"param":` + quoteOf(param) + `}}`
	}
	return []refusalCase{
		{1, []string{callWith("fc_1", "call_00_abc"), goodOutput}, "Invalid 'input[@A].id': 'call_00_abc'. Expected an ID that begins with 'fc'."},
		{2, []string{callWith("fc_1", "fc_a b"), goodOutput}, "Invalid 'input[@A].id': 'fc_a b'. Expected an ID that contains letters, numbers, underscores, or dashes, but this value contained additional characters."},
		{3, []string{callWith("fc_1", "fc_"+long[:80]), goodOutput}, "Invalid 'input[@A].id': string too long. Expected a string with maximum length 64, but got a string with length 83 instead."},
		{4, []string{callWith("call_1", "call_"+long[:80]), strings.Replace(goodOutput, "call_1", "call_"+long[:80], 1)}, "Invalid 'input[@A].call_id': string too long. Expected a string with maximum length 64, but got a string with length 85 instead."},
		{5, []string{callWith("call_1", ""), strings.Replace(goodOutput, "call_1", "", 1)}, "Invalid 'input[@A].call_id': empty string. Expected a string with minimum length 1, but got an empty string instead."},
		{6, []string{callWith("exec_command", ""), goodOutput}, "Invalid 'input[@A].name': empty string. Expected a string with minimum length 1, but got an empty string instead."},
		{7, []string{callWith("exec_command", "exec command<x>"), goodOutput}, "Invalid 'input[@A].name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."},
		{8, []string{callWith("ls", strings.Repeat("y", 1048600)), goodOutput}, "Invalid 'input[@A].arguments': string too long. Expected a string with maximum length 1048576, but got a string with length 1048610 instead."},
		{9, []string{goodCall, "!" + strings.Replace(goodOutput, "beds.csv", strings.Repeat("z", 10485770), 1)}, "Invalid 'input[@A].output': string too long. Expected a string with maximum length 10485760, but got a string with length 10485770 instead."},
		{10, []string{callWith(`\"cmd\"`, `\"`+long+`\"`), goodOutput}, "Invalid property name in 'input[@A].arguments': 'xxx...xxx' is too long. Expected a string with maximum length 256, but got a string with length 300 instead."},
		{11, []string{`!{"type":"reasoning","id":"rs_1","summary":[],"content":[{"type":"reasoning_text","text":"Counting."}],"encrypted_content":null}`}, "Invalid 'input[@A].content': array too long. Expected an array with maximum length 0, but got an array with length 1 instead."},
		{12, []string{`!{"type":"message","role":"user","content":[` + strings.Repeat(`{"type":"input_text","text":"see"},`, 1203) + `{"type":"input_text","text":"see"}]}`}, "Invalid 'input[@A].content': array too long. Expected an array with maximum length 1000, but got an array with length 1204 instead."},
		{13, []string{withImage("data:application/octet-stream;base64,aGVsbG8=")}, "Invalid 'input[@A].content[1].image_url'. Expected a base64-encoded data URL with an image MIME type (e.g. 'data:image/png;base64,aW1nIGJ5dGVzIGhlcmU='), but got unsupported MIME type 'application/octet-stream'."},
		{14, []string{withImage("data:image/png;base64,")}, "Invalid 'input[@A].content[1].image_url'. Expected a base64-encoded data URL with an image MIME type (e.g. 'data:image/png;base64,aW1nIGJ5dGVzIGhlcmU='), but got empty base64-encoded bytes."},
		{15, []string{withImage("/tmp/shot.png")}, "Invalid 'input[@A].content[1].image_url'. Expected a base64-encoded data URL with an image MIME type (e.g. 'data:image/png;base64,aW1nIGJ5dGVzIGhlcmU='), but got a value without the 'data:' prefix."},
		{17, []string{callWith(`"id":"fc_1"`, `"id":"fc_1","namespace":"beds"`), goodOutput}, "Unknown parameter: 'input[@A].namespace'."},
		{18, []string{`!{"type":"custom_tool_call","call_id":"call_1","name":"exec","input":"x","status":"done"}`, `{"type":"custom_tool_call_output","call_id":"call_1","output":"y"}`}, "[ObjectParam] [input[@A].status] [invalid_enum_value] The value is not taken."},
		{19, []string{`!{"type":"web_search_call","status":"completed","action":{"type":"search","query":"beds"}}`}, "Missing required parameter: 'input[@A].id'."},
		{20, []string{`!{"type":"reasoning","id":"rs_1","encrypted_content":"gAAAAABtZXJlLXRlc3Q="}`}, "Missing required parameter: 'input[@A].summary'."},
		{21, []string{`!{"type":"function_call","name":"exec_command","arguments":"{}"}`}, "Missing required parameter: 'input[@A].call_id'."},
		{22, []string{`!{"type":"web_search_call","status":"completed","action":{"type":"other"}}`}, say("Invalid value: 'other'. Supported values are: 'search', 'open_page', and 'find_in_page'.", "input[@A].action.type")},
		{23, []string{`!{"type":"message","role":"user","content":[{"type":"output_text","text":"And the beds?"}]}`}, say("Invalid value: 'output_text'. Supported values are: 'input_text', 'input_image', 'input_file', 'computer_screenshot', and 'summary_text'.", "input[@A].content[0]")},
		{24, []string{`!{"type":"message","role":"assistant","content":[{"type":"input_text","text":"Three."}]}`}, say("Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'.", "input[@A].content[0]")},
		{25, []string{`!{"type":"function_call","name":"exec_command","arguments":"{}","call_id":"call_1","namespace":7}`, goodOutput}, "Invalid type for 'input[@A].namespace': expected a string, but got an integer instead."},
		{27, []string{"!" + goodCall}, "No tool output found for function call call_1."},
		{28, []string{`!{"type":"custom_tool_call","call_id":"call_1","name":"exec","input":"x"}`}, "No tool output found for custom tool call call_1."},
		{29, []string{`!{"type":"local_shell_call","call_id":"call_1","status":"completed","action":{"type":"exec","command":["ls"]}}`}, "No tool output found for local shell call call_1."},
		{30, []string{"!" + goodOutput}, "No tool call found for function call output with call_id call_1."},
		{31, []string{goodCall, goodOutput, "!" + strings.Replace(goodOutput, "beds", "more", 1)}, "Duplicate function_call_output for call_id 'call_1'. Each function_call must have exactly one matching function_call_output"},
		{32, []string{goodCall, goodOutput, callWith("ls", "pwd")}, "Duplicate 'call_id': call_1"},
		{33, []string{goodCall, goodOutput, "!" + strings.NewReplacer("call_1", "call_2", "ls", "pwd").Replace(goodCall), strings.Replace(goodOutput, "call_1", "call_2", 1)}, "Duplicate item found with id fc_1. Remove duplicate items from your input and try again."},
		{34, []string{goodCall, goodOutput, "!" + strings.Replace(reasoned, "rs_1", "rs_68b1", 1), `{"type":"message","role":"user","content":[{"type":"input_text","text":"Go on"}]}`}, "Item 'rs_68b1' of type 'reasoning' was provided without its required following item."},
		{35, []string{callWith("fc_1", "fc_68b2"), goodOutput}, "Item 'fc_68b2' of type 'function_call' was provided without its required 'reasoning' item: 'rs_68b1'."},
		{36, []string{`!{"type":"message","id":"msg_68b3","role":"assistant","content":[{"type":"output_text","text":"Three."}]}`}, "Item 'msg_68b3' of type 'message' was provided without its required 'reasoning' item: 'rs_68b1'."},
		{37, []string{"!" + reasoned, goodCall, goodOutput}, "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input."},
		{39, []string{"!" + reasoned, goodCall, goodOutput}, "The encrypted content for item rs_1 could not be verified. Reason: Encrypted content could not be decrypted or parsed."},
		{40, []string{"!" + reasoned, goodCall, goodOutput}, "The encrypted content gAAA...c3Q= could not be verified. Reason: Encrypted content could not be decrypted or parsed."},
		{52, []string{callWith(`"id":"fc_1"`, `"id":"fc_1","namespace":7`), goodOutput}, "1 validation error: input.list[ResponseInputItem].@A.ResponseFunctionToolCall.namespace Input should be a valid string"},
		{119, []string{callWith(`"id":"fc_1"`, `"id":"fc_1","namespace":7`), goodOutput}, "Something wrong with 'input[@A].namespace'."},
		{120, []string{`!{"type":"compaction","encrypted_content":"gAAAAABtZXJlLXRlc3Q="}`}, `input.@A: item type "compaction" is not supported`},
		{147, []string{`!{"type":"custom_tool_call","call_id":"call_1","name":"exec","input":"ls"}`, `{"type":"custom_tool_call_output","call_id":"call_1","output":"beds.csv"}`}, `input[@A]: unknown input item type: "custom_tool_call"`},
		{122, []string{goodCall, `!{"type":"function_call_output","call_id":"call_1","output":""}`}, "Invalid 'input[@A].output': empty string. Expected a string with minimum length 1, but got an empty string instead."},
	}
}

const (
	use    = `{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"ls"}}`
	result = `{"type":"tool_result","tool_use_id":"toolu_1","content":"beds.csv"}`
	think  = `{"type":"thinking","thinking":"Counting.","signature":"c2lnbmVk"}`
	words  = `{"type":"text","text":"Three beds."}`
	served = `{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"beds"}}`
	found  = `{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]}`
)

func pictureOf(media, data string) string {
	return `{"type":"image","source":{"type":"base64","media_type":"` + media + `","data":"` + data + `"}}`
}

// ofMessages are faults of what Claude Code sends: an item that begins with "u " is the user's, any other the answer's.
func ofMessages() []refusalCase {
	in := func(old, new, of string) string { return strings.Replace(of, old, new, 1) }
	shown := func(media, data string) []string {
		return []string{use, `!u {"type":"tool_result","tool_use_id":"toolu_1","content":[` + pictureOf(media, data) + `]}`, words}
	}
	document := `!u {"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"aGVsbG8="}}`
	png := "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
	thought := func(text string) refusalCase { return refusalCase{0, []string{"!" + think, words}, text} }
	with := func(row int, c refusalCase) refusalCase { c.row = row; return c }
	return []refusalCase{
		{54, []string{"!" + use, words}, "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: toolu_1"},
		{55, []string{words, "!u " + result}, "Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls'. (messages[@M])"},
		{57, []string{think, "!" + words}, "Missing reasoning_content at message index @M"},
		{58, shown("image/png", "!!"), ".messages[@M]: Invalid base64 data"},
		{60, []string{use, "u " + result, "!" + in("ls", "pwd", use), words}, "invalid params, duplicate tool_call id: toolu_1"},
		{62, []string{`!u {"type":"tool_result","tool_use_id":"toolu_9","content":null}`}, "Invalid type for 'messages[@M].content': expected one of a string or array of objects, but got null instead."},
		{64, []string{"!" + use, words}, "messages.@M: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1. Each `tool_use` block must have a corresponding `tool_result` block in the next message."},
		{65, []string{words, "!u " + result}, "messages.@B: unexpected `tool_use_id` found in `tool_result` blocks: toolu_1. Each `tool_result` block must have a corresponding `tool_use` block in the previous message."},
		{66, []string{"!" + found, words}, "messages.@B: unexpected `tool_use_id` found in `web_search_tool_result` blocks: srvtoolu_1. Each `web_search_tool_result` block must have a corresponding `server_tool_use` block before it."},
		{67, []string{use, "u " + result, "!" + in("ls", "pwd", use), words}, "messages.@B: `tool_use` ids must be unique"},
		{68, []string{use, "u " + result, "!u " + in("beds", "more", result), words}, "messages.@B: each tool_use must have a single result. Found multiple `tool_result` blocks with id: toolu_1"},
		{69, []string{"!" + in("toolu_1", "toolu:1", use), "u " + in("toolu_1", "toolu:1", result), words}, "messages.@B.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"},
		{69, []string{"!" + in("srvtoolu_1", "web-1", served), in("srvtoolu_1", "web-1", found), words}, "messages.@B.server_tool_use.id: String should match pattern '^srvtoolu_[a-zA-Z0-9_]+$'"},
		{70, []string{"!" + in("Bash", "", use), "u " + result, words}, "messages.@B.tool_use.name: String should have at least 1 character"},
		{71, []string{"!" + in(`{"command":"ls"}`, `"ls"`, use), "u " + result, words}, "messages.@B.tool_use.input: Input should be a valid dictionary"},
		{78, []string{`!u {"type":"text","text":""}`}, "messages.@B.text: cache_control cannot be set for empty text blocks"},
		with(80, thought("messages.@B: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.")),
		with(81, thought("messages.@B: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\".")),
		with(82, thought("messages.@B: Invalid `signature` in `thinking` block")),
		{83, []string{"!" + in(`,"signature":"c2lnbmVk"`, "", think), words}, "messages.@B.thinking.signature: Field required"},
		with(86, refusalCase{0, []string{words, "!" + think}, "messages.@M: The final block in an assistant message cannot be `thinking`."}),
		with(87, thought("messages.@B: When thinking is disabled, an `assistant` message in the final position cannot contain `thinking`. To use thinking blocks, enable `thinking` in your request.")),
		with(88, thought("messages.@B: When providing `thinking` or `redacted_thinking` blocks, the blocks must match the parameters during the original request.")),
		{89, shown("image/png", png), "messages.@B.tool_result.content.0.image.source.base64.data: At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels"},
		{90, shown("image/png", png), "messages.@B.tool_result.content.0.image.source.base64.data: At least one of the image dimensions exceed max allowed size: 8000 pixels"},
		{91, shown("image/png", png), "messages.@B.tool_result.content.0.image.source.base64: image exceeds 5 MB maximum: 5368504 bytes > 5242880 bytes"},
		{92, shown("image/jpeg", png), "messages.@B.tool_result.content.0.image.source.base64: The image was specified using the image/jpeg media type, but the image appears to be a image/png image"},
		{93, shown("image/jpeg", png), "messages.@B.image.source.base64.data: Image does not match the provided media type image/jpeg"},
		{94, shown("image/svg+xml", png), "messages.@B.tool_result.content.0.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'"},
		{95, shown("image/png", "aGVsbG8="), "messages.@B.tool_result.content.0.image.source.base64: Could not process image"},
		{98, []string{document}, "messages.@B.pdf.source.base64.data: A maximum of 100 PDF pages may be provided."},
		{99, []string{document}, "messages.@B.document.source.base64.data: Could not process PDF"},
		{100, []string{document}, "messages.@B.document.source.base64.data: The PDF specified is password protected."},
		{112, []string{served, `!{"type":"tool_search_tool_result","tool_use_id":"srvtoolu_1","content":{"type":"tool_search_tool_search_result","tool_references":[{"type":"tool_reference","tool_name":"Gone"}]}}`, words}, "Tool reference 'Gone' not found in available tools"},
		{113, []string{`!{"type":"text","text":"Three beds.","citations":null,"made_up":1}`}, "messages.@B.text.made_up: Extra inputs are not permitted"},
		{114, []string{"!" + served, found, words}, "messages.@B: Input tag 'server_tool_use' found using 'type' does not match any of the expected tags: 'document', 'image', 'text', 'thinking', 'tool_result', 'tool_use'"},
		{115, []string{use, `!u {"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"made_up","text":"x"}]}`, words}, "messages.@B.content.0.type: Input should be 'text'"},
		{118, []string{use, `!u {"type":"tool_result","tool_use_id":"toolu_1","content":"beds.csv","made_up":1}`, words}, "messages.@B.tool_result.made_up: Something is wrong"},
		with(84, refusalCase{0, []string{words, "!" + think}, "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `text`. When `thinking` is enabled, a final `assistant` message must start with a thinking block"}),
		{85, []string{words, "!" + think, words}, "messages.@B: If an assistant message contains any thinking blocks, the first block must be `thinking` or `redacted_thinking`. Found `text`."},
		{79, []string{"!u []"}, "messages.@M: all messages must have non-empty content except for the optional final assistant message"},
	}
}

func quoteOf(s string) string {
	text, _ := json.Marshal(s)
	return string(text)
}

// codex writes a case as Codex does.
func (c refusalCase) codex() Refused {
	line := int64(0)
	var b strings.Builder
	n := int64(0)
	put := func(typ, payload string) {
		n++
		fmt.Fprintf(&b, `{"timestamp":"2026-11-24T08:10:%02d.%03dZ","type":"%s","payload":%s}`+"\n", n/10, n%10*100, typ, payload)
	}
	prompt := func(text string) {
		put("event_msg", `{"type":"task_started","turn_id":"t`+fmt.Sprint(n)+`"}`)
		put("response_item", `{"type":"message","role":"user","content":[{"type":"input_text","text":"`+text+`"}]}`)
		put("event_msg", `{"type":"user_message","message":"`+text+`","images":[]}`)
	}
	put("session_meta", `{"session_id":"01a21e00-4c11-7d20-9b01-6a1f0c2d3e4f","id":"01a21e00-4c11-7d20-9b01-6a1f0c2d3e4f","timestamp":"2026-11-24T08:10:00.000Z","cwd":"/home/dev/beds","originator":"codex_exec","cli_version":"0.155.1","source":"exec","model_provider":"openai"}`)
	prompt("Which beds are there?")
	at := 0
	for i, item := range c.items {
		item, bad := strings.CutPrefix(item, "!")
		put("response_item", item)
		if bad {
			line, at = n, i+1
		}
	}
	put("response_item", `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Three beds."}]}`)
	put("event_msg", `{"type":"agent_message","message":"Three beds."}`)
	put("event_msg", `{"type":"task_complete","turn_id":"t1","last_agent_message":"Three beds."}`)
	prompt("And the paths?")
	said := strings.ReplaceAll(c.error, "@A", fmt.Sprint(at))
	put("event_msg", `{"type":"task_complete","turn_id":"t2","last_agent_message":null,"error":{"message":`+quoteOf(said)+`,"codex_error_info":"other"}}`)
	return Refused{c.row, "codex", []byte(b.String()), line, said}
}

// claude writes a case as Claude Code does, a record for each block.
func (c refusalCase) claude() Refused {
	line := int64(0)
	var b strings.Builder
	n, parent := int64(0), "null"
	put := func(typ, message, more string) {
		n++
		id := fmt.Sprintf("11111111-1111-4111-8111-%012d", n)
		fmt.Fprintf(&b, `{"parentUuid":%s,"isSidechain":false,"userType":"external","cwd":"/home/dev/beds","sessionId":"7c1f0b1e-5a0e-4d53-9a6b-0f5d3f6f2a22","version":"2.1.330","type":"%s","message":%s,"uuid":"%s","timestamp":"2026-11-20T10:00:%02d.000Z"%s}`+"\n", parent, typ, message, id, n, more)
		parent = `"` + id + `"`
	}
	prompt := func(text string) { put("user", `{"role":"user","content":"`+text+`"}`, "") }
	prompt("Which beds are there?")
	message, block, role, at, in := 0, 0, "user", 0, 0
	for _, item := range c.items {
		item, bad := strings.CutPrefix(item, "!")
		item, users := strings.CutPrefix(item, "u ")
		is := "assistant"
		if users {
			is = "user"
		}
		if block++; is != role {
			message, block, role = message+1, 0, is
		}
		if bad {
			line, at, in = n+1, message, block
		}
		content := "[" + item + "]"
		if item == "[]" {
			content = item
		}
		if users {
			put("user", `{"role":"user","content":`+content+`}`, "")
		} else {
			put("assistant", fmt.Sprintf(`{"id":"msg_%d","type":"message","role":"assistant","model":"claude-opus-4-8","content":%s,"stop_reason":null,"usage":{"input_tokens":9,"output_tokens":9}}`, message, content), "")
		}
	}
	prompt("And the paths?")
	said := strings.NewReplacer("@B", fmt.Sprintf("%d.content.%d", at, in), "@M", fmt.Sprint(at)).Replace(c.error)
	body := `API Error: 400 {"type":"error","error":{"type":"invalid_request_error","message":` + quoteOf(said) + `},"request_id":"req_1"}`
	put("assistant", `{"id":"b1f0","type":"message","role":"assistant","model":"<synthetic>","content":[{"type":"text","text":`+quoteOf(body)+`}],"stop_reason":"stop_sequence"}`, `,"isApiErrorMessage":true,"error":"invalid_request"`)
	return Refused{c.row, "claude", []byte(b.String()), line, said}
}
