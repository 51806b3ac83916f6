package codex

import (
	"testing"

	"github.com/hist-cli/hist/internal/agent"
)

// TestExplain: what the client's own errors say of the session, as reports have them.
func TestExplain(t *testing.T) {
	for text, want := range map[string]struct {
		verdict agent.Verdict
		same    string
	}{
		"cannot resume running thread 01a1 with stale path: requested `/srv/sessions/a.jsonl`, active `/srv/archived_sessions/a.jsonl`":                                                                   {agent.InUse, agent.Later},
		"cannot resume running thread 01a1 with mismatched path: requested `C:\\a.jsonl`, active `\\\\?\\C:\\a.jsonl`":                                                                                    {agent.InUse, agent.Later},
		"thread-store internal error: rollout migration failed: thread 01a1 is missing its SQLite metadata":                                                                                               {agent.Incompatible, agent.Never},
		"skipping rejected rollout line while projecting 01a1: invalid type: map, expected f64":                                                                                                           {agent.ClientTooOld, agent.AfterUpgrade},
		"Failed to initialize session: required MCP servers failed to initialize: x: connection closed":                                                                                                   {agent.Incompatible, agent.Never},
		"Invalid request: AbsolutePathBuf deserialized without a base path":                                                                                                                               {agent.Incompatible, agent.Never},
		"failed to open state db: migration 1 was previously applied but has been modified":                                                                                                               {agent.Incompatible, agent.Never},
		"failed to open state db: migration 21 was previously applied but is missing in the resolved migrations":                                                                                          {agent.ClientTooOld, agent.AfterUpgrade},
		"failed to initialize sqlite state runtime: timed out waiting for state db backfill at /srv after 30s (status: running)":                                                                          {agent.Resumable, agent.Later},
		"failed to initialize sqlite state runtime under /srv":                                                                                                                                            {agent.Incompatible, agent.Never},
		"turn/start failed: thread not found: 01a1edfd-e191-74b0-9003-79b97f4a7c15":                                                                                                                       {agent.Resumable, agent.AfterUpgrade},
		"thread/read error -32600: thread not loaded: 01a1edfd-e191-74b0-9003-79b97f4a7c15":                                                                                                               {agent.Resumable, agent.AfterUpgrade},
		"unsupported operation: no thread with id: 01a1edfd-e191-74b0-9003-79b97f4a7c15":                                                                                                                  {agent.Resumable, agent.AfterUpgrade},
		"thread 01a1 is not materialized yet; includeTurns is unavailable before first user message":                                                                                                      {agent.Resumable, agent.Now},
		"Agent thread 01a1edfd-e191-74b0-9003-79b97f4a7c15 is no longer available.":                                                                                                                       {agent.Incompatible, agent.Never},
		"Failed to load a bounded thread history page: error returned from database: (code: 5) database is locked":                                                                                        {agent.Resumable, agent.Later},
		"error returned from database: (code: 5) database is locked":                                                                                                                                      {agent.Resumable, agent.Later},
		"paginated rollout path `/srv/real.jsonl` does not have a canonical rollout filename":                                                                                                             {agent.NotFound, agent.Never},
		"This chat uses model provider “”, which is no longer configured.":                                                                                                                                {agent.Incompatible, agent.Never},
		"rollout files are missing from the state DB":                                                                                                                                                     {agent.Resumable, agent.Now},
		"paginated threads do not support initialTurnsPage; use turnsBackwardsCursor and itemsBackwardsCursor":                                                                                            {agent.Incompatible, agent.AfterUpgrade},
		"failed to archive thread: The system cannot find the file specified. (os error 2)":                                                                                                               {agent.Incompatible, agent.Never},
		"failed to read session metadata /srv/a.jsonl: Permission denied (os error 13) (code -32603)":                                                                                                     {agent.Incompatible, agent.Never},
		"failed to read session metadata /srv/a.jsonl.zst: incomplete frame (code -32603)":                                                                                                                {agent.Repairable, agent.AfterRepair},
		"failed to read session metadata /srv/a.jsonl: rollout at /srv/a.jsonl is empty (code -32603)":                                                                                                    {agent.Corrupt, agent.Never},
		"paginated subagent rollout at /srv/a.jsonl is incomplete: expected inherited prefix through ordinal 59":                                                                                          {agent.Corrupt, agent.Never},
		"rollout migration failed: legacy rollout contains an unsupported response item":                                                                                                                  {agent.Incompatible, agent.Never},
		"rollout compression or another migration is already running":                                                                                                                                     {agent.Resumable, agent.Later},
		"ERROR codex_core::session: failed to record rollout items: thread 01a1 not found":                                                                                                                {agent.Resumable, agent.Now},
		"live agent path `/root/check_names` not found":                                                                                                                                                   {agent.Resumable, agent.Now},
		"unsupported call: mcp__orchard__count_trees":                                                                                                                                                     {agent.Resumable, agent.Now},
		"Conversation interrupted - tell the model what to do differently. Something went wrong?":                                                                                                         {agent.Resumable, agent.Now},
		"thread 01a1 is closing; retry thread/resume after the thread is closed":                                                                                                                          {agent.Resumable, agent.Later},
		"error returned from database: (code: 8) attempt to write a readonly database":                                                                                                                    {agent.Incompatible, agent.Never},
		"failed to open log DB at /srv/logs_2.sqlite: error returned from database: (code: 522) disk I/O error":                                                                                           {agent.Incompatible, agent.Never},
		"failed to read thread: thread-store internal error: Data error (cyclic redundancy check). (os error 23)":                                                                                         {agent.Corrupt, agent.Never},
		"failed to read thread: Input/output error (os error 5)":                                                                                                                                          {agent.Corrupt, agent.Never},
		"failed to read thread: Access is denied. (os error 5)":                                                                                                                                           {agent.Incompatible, agent.Never},
		"Failed to resume session from /srv/archived_sessions/rollout-a.jsonl":                                                                                                                            {agent.Resumable, agent.Never},
		"Failed to resume session from /srv/a.jsonl: final paginated rollout record at /srv/a.jsonl is missing an ordinal":                                                                                {agent.Repairable, agent.AfterRepair},
		"Session data under /srv/sessions looks corrupt or unreadable. Clearing the sessions directory may help (this will remove saved threads). (underlying error: stream did not contain valid UTF-8)": {agent.Resumable, agent.Never},
		"Codex cannot access session files at /srv/sessions (permission denied). If sessions were created using sudo, fix ownership: sudo chown":                                                          {agent.Incompatible, agent.Never},
		"Session storage missing at /srv/sessions. Create the directory or choose a different Codex home. (underlying error: No such file or directory (os error 2))":                                     {agent.Resumable, agent.Later},
		"agent with id 01a1edfd-e191-74b0-9003-79b97f4a7c15 not found":                                                                                                                                    {agent.Resumable, agent.Now},
		"cannot update goal because this thread has no goal":                                                                                                                                              {agent.Resumable, agent.Now},
		"failed to read thread: thread-store internal error: failed to read thread /srv: Is a directory (os error 21)":                                                                                    {agent.Resumable, agent.Never},
		"set_thread_archived requires hostId for unloaded thread 01a1":                                                                                                                                    {agent.Resumable, agent.Now},
		"paginated_threads is not supported yet":                                                                                                                                                          {agent.Incompatible, agent.AfterUpgrade},
		"Error: failed to load a bounded thread history page":                                                                                                                                             {agent.Incompatible, agent.Never},
		"Codex couldn't start because its local database appears to be damaged.":                                                                                                                          {agent.Incompatible, agent.Never},
		"Codex couldn't start because its local database appears to be damaged. Cause: timed out waiting for state db backfill":                                                                           {agent.Resumable, agent.Later},
		"Codex failed to start. unable to open database file":                                                                                                                                             {agent.Incompatible, agent.Never},
		"failed to read thread: The process cannot access the file because it is being used by another process. (os error 32)":                                                                            {agent.InUse, agent.Later},
		"stream did not contain valid UTF-8 (code -32603)":                                                                                                                                                {agent.Repairable, agent.Never},
	} {
		m := explain(text)
		if m == nil || m.Verdict != want.verdict || m.Same != want.same || m.Step == "" {
			t.Errorf("%s: %+v, want %+v", text, m, want)
		}
	}
}
