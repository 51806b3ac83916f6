package codex

import (
	"testing"

	"github.com/tidwall/gjson"
)

// TestCopyOfSubagent: the client resumes a sub-agent of the second kind only through its parent, but a copy of it, which has a plain
// thread's header, by its own id.
func TestCopyOfSubagent(t *testing.T) {
	const root, agent, id = "01a21a4e-b577-71c2-b279-130cf9b5cf38", "01a21a4e-b6c6-7f92-9ff5-419523238b80", "01a21a4e-b6c6-7f92-9ff5-419523238b81"
	header := func(version string) []byte {
		return []byte(`{"timestamp":"2026-11-27T00:01:35.952Z","ordinal":0,"type":"session_meta","payload":{"session_id":"` + root + `","id":"` + agent +
			`","source":{"subagent":{"thread_spawn":{"parent_thread_id":"` + root + `","depth":1}}},"thread_source":"subagent","multi_agent_version":"` + version +
			`","agent_nickname":"Leek","agent_path":"/root/leek","parent_thread_id":"` + root + `"}}`)
	}
	if by := ReadHeader(header("v1")).ResumedBy; by != "" {
		t.Errorf("a sub-agent of the first kind is resumed by %q, want its own id", by)
	}
	old := ReadHeader(header("v2"))
	if old.ResumedBy != root {
		t.Errorf("a sub-agent is resumed by %q, want %q", old.ResumedBy, root)
	}
	line := Reidentify(header("v2"), old, id)
	if !gjson.ValidBytes(line) {
		t.Fatalf("not JSON: %s", line)
	}
	if is := ReadHeader(line); is.ID != id || is.SessionID != id || is.ResumedBy != "" || is.Source != "cli" || is.ForkedFrom != agent {
		t.Errorf("the copy's header says %+v", is)
	}
	for _, member := range []string{"parent_thread_id", "agent_nickname", "agent_path"} {
		if gjson.GetBytes(line, "payload."+member).Exists() {
			t.Errorf("the copy's header has %s", member)
		}
	}
}

// TestHeaderForOlderClient: what an older client does not look at does not keep it from reading a header.
func TestHeaderForOlderClient(t *testing.T) {
	line := []byte(`{"type":"session_meta","payload":{"id":"01a21a4e-b577-71c2-b279-130cf9b5cf38","timestamp":"2026-11-27T00:01:35.952Z","cwd":"/","originator":"cli",` +
		`"cli_version":"0.79.0","source":"cli","session_id":"01a21a4e-b577-71c2-b279-130cf9b5cf38","git":3,"memory_mode":true,"context_window":{},"runtime_workspace_roots":3}}`)
	for version, want := range map[string]int{"": 4, "0.171.0": 4, "0.145.0": 3, "0.114.0": 2, "0.79.0": 1} {
		if faults := HeaderFaults(line, Known{Client: version}); len(faults) != want {
			t.Errorf("%q is said to refuse %d members, want %d: %+v", version, len(faults), want, faults)
		}
	}
}

// TestOwnThread: what the client made for work of its own it does not resume (measured with 0.171.0), but a copy as a new thread.
func TestOwnThread(t *testing.T) {
	line := []byte(`{"type":"session_meta","payload":{"id":"01a21a4e-b577-71c2-b279-130cf9b5cf38","source":{"internal":"guardian"}}}`)
	h := ReadHeader(line)
	if h.NotResumed == "" {
		t.Error("a guardian's thread is said to be resumed")
	}
	if is := ReadHeader(Reidentify(line, h, "01a21a4f-4980-70c0-b571-8db9bd897c20")); is.NotResumed != "" || is.Source != "cli" {
		t.Errorf("the copy's header says %+v", is)
	}
}

// TestHeaderTaken: what the newest client takes in a header, however odd, is no fault (measured with 0.171.0).
func TestHeaderTaken(t *testing.T) {
	const agent = `"source":{"subagent":{"thread_spawn":{"parent_thread_id":"01a21a4f-4980-70c0-b571-8db9bd897c20",`
	for _, member := range []string{
		agent + `"depth":-1}}}`, agent + `"depth":2147483647,"agent_path":"/root/a_1/b","agent_type":"x"}}}`, `"source":{"subagent":{"other":""}}`,
		`"source":{"custom":"x"}`, `"source":{"cli":null}`, `"agent_path":"/morpheus"`, `"source":{"internal":{"guardian":null}}`, `"source":{"vscode":{}}`, `"source":"a front end"`, `"source":{"subagent":{"review":{}}}`, `"agent_path":"other"`, `"base_instructions":{"text":"x","provenance":{"type":"custom","model":3}}`,
		`"dynamic_tools":[{"name":"a","description":"b","inputSchema":null,"deferLoading":null,"namespace":"n","exposeToContext":null,"tools":3}]`,
		`"dynamic_tools":[{"type":"namespace","name":"n","description":"d","tools":[],"deferLoading":3},{"type":"function","name":"a","description":"b","inputSchema":1.5,"deferLoading":true}]`,
	} {
		line := []byte(`{"type":"session_meta","payload":{"id":"01a21a4e-b577-71c2-b279-130cf9b5cf38","timestamp":"2026-11-27T00:01:35.952Z","cwd":"/","originator":"cli","cli_version":"0.171.0",` + member + `}}`)
		if faults := HeaderFaults(line, Known{}); len(faults) > 0 {
			t.Errorf("%s is said to be refused: %+v", member, faults)
		}
	}
	mixed := []byte(`{"type":"session_meta","payload":{"id":"01a21a4e-b577-71c2-b279-130cf9b5cf38","timestamp":"2026-11-27T00:01:35.952Z","cwd":"/","originator":"cli","cli_version":"0.171.0","source":"cli","dynamic_tools":[{"name":"a","description":"b","inputSchema":{}},{"type":"function","name":"c","description":"d","inputSchema":{}}]}}`)
	if faults := HeaderFaults(mixed, Known{}); len(faults) != 1 || !faults[0].Exact {
		t.Errorf("tools with and without a type: %+v", faults)
	}
	if faults := HeaderFaults(mixed, Known{Client: "0.114.0"}); len(faults) > 0 {
		t.Errorf("0.114.0 reads tools with and without a type: %+v", faults)
	}
	for _, source := range []string{`"custom"`, `"internal"`, `"subagent"`, `{"subagent":"other"}`, `{"subagent":"thread_spawn"}`, `{"cli":null,"exec":null}`} {
		line := []byte(`{"type":"session_meta","payload":{"id":"01a21a4e-b577-71c2-b279-130cf9b5cf38","timestamp":"2026-11-27T00:01:35.952Z","cwd":"/","originator":"cli","cli_version":"0.171.0","source":` + source + `}}`)
		if len(HeaderFaults(line, Known{})) == 0 {
			t.Errorf("source %s is said to be read", source)
		}
	}
}
