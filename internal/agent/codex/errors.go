package codex

import (
	"strings"

	"github.com/hist-cli/hist/internal/agent"
)

// hints explain errors of the client; package api knows the API's. They go by the words of an error, because clients use one code for
// different errors. The first match counts.
var hints = []agent.Meaning{
	inUse("in-use", "another client is writing to this thread", "already has an active writer"),
	newHint("", "the client could not read a file of the session, and says that clearing its folder of sessions may help: that deletes every session", agent.Never, agent.Resumable,
		"clear nothing: hist lint SESSION says what the client can't read, and hist repair SESSION mends it; hist lint on the client's home looks at every session", []string{"clearing the sessions directory may help"}),
	incompatible("", "the client may not read or write its folder of sessions", "hist doctor names the files and folders that belong to somebody else or are shut, with the command that gives them back", "cannot access session files"),
	newHint("", "the client's folder of sessions is not there, or is no folder: it was moved, a drive is missing, or the client looks into another home", agent.Later, agent.Resumable,
		"put the folder sessions back into the client's home (or a link to where it lies), or name the right home to the client (CODEX_HOME)", []string{"session storage missing | session storage path"}),
	newHint("empty-file", "the client finds nothing in the session's file that it can read, or the file is empty", agent.Never, agent.Corrupt,
		"hist lint SESSION says what the file holds, and whether another file holds the session", []string{"rollout", "is empty"}),
	newHint("incomplete-prefix", "the sub-agent's file ends inside what it inherits: its client died while it was made, or its header names a wrong number", agent.Never, agent.Corrupt,
		"hist lint SESSION says how far it goes; hist show SESSION shows what it holds", []string{"paginated subagent rollout", "is incomplete"}),
	repairable("corrupt-zst", "the compressed file is damaged", ".zst", "frame"),
	incompatible("", "the session holds a record of a kind that the client's migration does not know; its file was left as it is", "hist pre-resume SESSION says whether the client reads the session without the migration", "unsupported response item"),
	newHint("", "another client compresses or migrates sessions, and the session's file is not at fault", agent.Later, agent.Resumable, "try again when that has ended", []string{"rollout compression or another migration is already running"}),
	notFound("", "the client finds no session with this id: its file is not in the client's home, or its header is lost", "session not found:"),
	notFound("index-stale", "the client does not find the thread: its file is gone, or not where the client's list says", "no rollout found for thread id"),
	notFound("index-stale", "the thread's file is not where the client's list says", "failed to resolve rollout path"),
	notFound("", "the client finds no session with this id: its file is not in the client's home, or its header is lost", "no saved session found"),
	notFound("id-mismatch", "the file's header names another thread than the one that was asked for", "thread source changed during resume"),
	notFound("index-stale", "the client's list names another file for the thread", "stale rollout path"),
	newHint("", "the client has the thread loaded from another path than it was asked for: from the archive, or from the same file by another way of writing its path", agent.Later, agent.InUse,
		"end the client and its app-server, then resume the session again; if the error comes back: hist lint SESSION says whether the client's list names another file", []string{"cannot resume running thread", "path"}),
	notFound("index-stale", "the client's list names no file for the thread", "missing rollout path"),
	newHint("", "the client did not write its newest records to the session's file, because it had closed that already: what was said last may be missing", agent.Now, agent.Resumable,
		"hist show SESSION shows up to where the file goes; then resume it", []string{"failed to record rollout items"}),
	newHint("", "the model asked for a sub-agent that the client has not loaded since it resumed the session; nothing is damaged", agent.Now, agent.Resumable,
		"send a prompt that asks for a new sub-agent; hist list shows the thread of the old one, and hist show what it did", []string{"live agent path", "not found | agent with id", "not found"}),
	newHint("", "the thread's goal is not in the client's list of goals any more (goals_1.sqlite); the conversation is not at fault", agent.Now, agent.Resumable,
		"resume the session and set the goal again (/goal)", []string{"this thread has no goal"}),
	newHint("", "the client was asked for a thread without a file, as a side chat may be that was never written: what it read instead is its home", agent.Never, agent.Resumable,
		"hist pre-resume SESSION says whether the thread has a file; if it has none, what was said is lost with the program that showed it", []string{"failed to read thread", "is a directory (os error 21)"}),
	newHint("", "the desktop app has not loaded the thread and does not know on which machine it lies; its file is not at fault", agent.Now, agent.Resumable,
		"codex unarchive SESSION takes it out of the archive, codex resume SESSION goes on with it, both from a terminal of that machine", []string{"requires hostid for unloaded thread"}),
	newHint("", "the model called a tool that the client does not offer under that name: its MCP server does not run, or a gateway left out the tool's namespace. The session is not at fault", agent.Now, agent.Resumable,
		"see that the server runs (codex mcp list), or take another gateway; hist pre-resume SESSION says whether the session resumes", []string{"unsupported call:"}),
	newHint("", "the turn was interrupted, or the client's view of the session ends there though the file goes on, as where numbers repeat: clients from 0.154 on show all of it", agent.Now, agent.Resumable,
		"hist lint SESSION says whether anything is damaged, hist show SESSION shows all that the file holds", []string{"conversation interrupted", "tell the model what to do differently"}),
	newHint("", "the client still closes the thread", agent.Later, agent.Resumable, "try again when it has ended", []string{"is closing", "retry thread/resume"}),
	unloaded("thread not found"),
	unloaded("thread not loaded"),
	unloaded("no thread with id"),
	newHint("", "the thread is new: nothing was said in it, so that it is in no file and has no history", agent.Now, agent.Resumable,
		"send it a prompt; the session is not at fault", []string{"is not materialized yet"}),
	incompatible("", "a sub-agent's thread can't be opened in the client: it is not loaded, or the client's list lacks it", "hist lint SESSION says whether its file and its row in the client's list are there; hist show SESSION shows what it did",
		"agent thread", "is no longer available"),
	aboutHome("index-stale", "rows of the client's list name files that are gone", "rows point at missing or unusable rollout files"),
	aboutHome("index-missing", "the client's list lacks sessions that are there", "rollout files are missing from the state db"),
	aboutHome("duplicate-thread", "several files hold the same thread", "duplicate thread inventory entries"),
	repairable("bad-header", "the file has no header that the client can use, so it is not listed", "no usable header record"),
	incompatible("", "the thread is a sub-agent's, which the client resumes only through the one that began it", "hist pre-resume SESSION names that one: resume it", "multi-agent v2 sub-agent"),
	incompatible("", "the session is in the archive", "codex unarchive SESSION, then resume it", "is archived"),
	incompatible("broken-lineage", "the session that this fork continues is gone", "hist lint SESSION names the session that is missing: put its file back, or: hist repair SESSION makes a copy that needs none", "missing source rollout"),
	incompatible("broken-lineage", "the session that this fork continues has changed", "hist lint SESSION names the session that it goes on from; hist repair SESSION makes a copy that needs none", "invalid paginated history lineage"),
	incompatible("broken-lineage", "the session that this fork continues is shorter than it was", "hist lint SESSION names the session that it goes on from; hist repair SESSION makes a copy that needs none", "cutoff byte offset is past"),
	incompatible("", "the thread belongs to another model provider than the client uses", "resume it with that provider: codex resume SESSION -c model_provider=NAME (hist list --json says which), or: hist repair --provider compatible=NAME SESSION makes a copy for the other one, and says what that does not know", "cannot change this thread's model provider"),
	incompatible("", "a server of tools (MCP) that the client's config calls required does not start; the session's file is not at fault", "mend that server, or take required = true out of its part of config.toml ([mcp_servers.NAME]), then resume the session", "required mcp servers failed to initialize"),
	unnamed("model provider `` not found"),
	unnamed("model provider “”"),
	incompatible("provider-missing", "the client's config lacks the thread's model provider", "add the provider to config.toml of the client ([model_providers.NAME]), or go on in a thread of its own, with the provider of config.toml: codex fork SESSION", "this chat uses model provider", "no longer configured"),
	incompatible("provider-missing", "the client's config lacks the thread's model provider", "add the provider to config.toml of the client, or resume it with another one: codex resume SESSION -c model_provider=NAME", "model provider", "not found"),
	newHint("", "another process is writing to one of the client's databases, or it lies on a drive without locks; the session's file is not at fault", agent.Later, agent.Resumable,
		"try again; if the error comes back, end all clients, then resume the session", []string{"database is locked"}),
	damagedDatabase("the client can't read one of its databases, or its list has the thread as one in another form (hist lint says which)", "list_turns is not supported"),
	damagedDatabase("the client can't read one of its databases, or its list has the thread as one in another form (hist lint says which)", "failed to load a bounded thread history page"),
	damagedDatabase("the client can't read one of its databases", "failed to open thread history"),
	damagedDatabase("the client can't read what thread_history_1.sqlite holds on the session", "thread history", "malformed"),
	damagedDatabase("the client can't read what thread_history_1.sqlite holds on the session", "thread history", "not a database"),
	damagedDatabase("the client can't read what state_5.sqlite holds on the session", "thread metadata", "malformed"),
	damagedDatabase("the client can't read what state_5.sqlite holds on the session", "thread metadata", "not a database"),
	damagedDatabase("the client can't read one of its databases (hist lint names it)", "database disk image is malformed"),
	incompatible("", "the client's list (state_5.sqlite) has no row for the thread, and its migration needs one; the session's file was left as it is", "hist pre-resume SESSION says whether the client reads the session without the migration", "is missing its sqlite metadata"),
	incompatible("damaged-database", "the client's database was made with another text of this migration than the client has; reports are of homes that clients of two platforms use. The session's file is not at fault", "resume the session with the client that made the database, or give this client a home of its own (CODEX_HOME)", "migration", "was previously applied but has been modified"),
	newHint("", "the client's database was made by a newer client than this one. The session's file is not at fault", agent.AfterUpgrade, agent.ClientTooOld,
		"resume the session with the newer client, or give this one a home of its own (CODEX_HOME)", []string{"migration", "was previously applied but is missing in the resolved migrations"}),
	newHint("", "the client has not ended to make its list of all sessions, and does not start before", agent.Later, agent.Resumable,
		"end all clients, start one, and wait; the more sessions there are, the longer it takes. If the error comes back: hist lint on the client's home names what can't be read", []string{"state db backfill"}),
	incompatible("", "the client's app-server does not take a path that it was sent for an absolute one; reports are of empty paths, relative ones, and those of another platform (Windows and WSL)", "resume the session from a terminal on the platform that it was begun on (hist show SESSION names its directory), with a newer client if the error comes back", "absolutepathbuf deserialized without a base path"),
	newHint("", "the program that asked the client does not know how to ask for threads of this kind; the session's file is not at fault", agent.AfterUpgrade, agent.Incompatible,
		"take a version of that program (desktop app, editor) that fits the client, or resume the session from a terminal", []string{"paginated threads do not support"}),
	newHint("", "the client that was asked, which may run on another machine, does not read threads of this form: it is older than the one that wrote the session; the file is not at fault", agent.AfterUpgrade, agent.Incompatible,
		"take the same version of the client on both sides, or resume the session from a terminal of the machine that it lies on", []string{"paginated_threads is not supported"}),
	incompatible("", "the client does not find a file or a folder that it needs to put the thread into the archive", "hist lint SESSION looks for the session's file, and says whether the client's list names another one", "failed to archive thread", "(os error 2)"),
	tooOld("ordinal-duplicate", "the numbers of the records repeat; nothing is lost, and clients from 0.154 on read it", "expected ordinal"),
	tooOld("ordinal-duplicate", "the client's view of the thread is no longer updated; nothing is lost, and clients from 0.154 on read it", "failed to project durable rollout"),
	tooOld("ordinal-duplicate", "the numbers of the records repeat; clients from 0.154 on read it", "failed to prepare paginated fork"),
	tooOld("ordinal-duplicate", "clients from 0.145 to 0.153 can't read a token count with fractions, and stop to update their view there; nothing is lost, and clients from 0.154 on read it", "invalid type: map, expected f64"),
	tooOld("", "the file holds a record of a kind that this client does not know", "failed to parse rollout line", "unknown variant"),
	repairable("ordinal-missing", "an older client wrote records without numbers at the end", "is missing an ordinal"),
	repairable("projection-stale", "the file is shorter than the client's view of it", "durable rollout shrank"),
	repairable("projection-stale", "the client's view of the thread does not match the file", "is behind durable rollout"),
	repairable("header-not-first", "the first record is not a readable header", "does not start with session metadata"),
	repairable("bad-header", "the header can't be read", "failed to read session metadata"),
	repairable("bad-header", "the first line can't be read", "failed to parse first rollout record"),
	repairable("bad-header", "the header can't be read", "failed to parse thread id"),
	repairable("bad-header", "the header can't be read", "failed to parse conversation id"),
	corrupt("empty-file", "the session's file is empty", "empty session file"),
	notFound("bad-file-name", "the file, or the one that a link in its place leads to, is not named as the client names sessions", "does not have a canonical rollout filename"),
	repairable("id-mismatch", "the file's name and its header name different threads", "belongs to thread"),
	incompatible("", "the drive does not let the client read or write one of its databases; reports are of network drives (NFS, AFS). The session's file is not at fault", "end all clients, then copy the client's home to a local disk and name it to the client (CODEX_HOME)", "disk i/o error"),
	incompatible("", "the client may not write to one of its databases, or the drive takes no changes. The session's file is not at fault", "hist doctor names the files and folders that belong to somebody else or are shut, with the command that gives them back", "readonly database"),
	failingDisk("cyclic redundancy"),
	failingDisk("crc", "(os error 23)"),
	failingDisk("input/output error", "(os error 5)"), // on Windows, the number is that of a denied access
	damagedDatabase("the client can't open its list of sessions (state_5.sqlite); what else it says tells why", "failed to initialize sqlite state"),
	damagedDatabase("the client can't open one of its databases; what else it says tells why", "failed to initialize state runtime"),
	damagedDatabase("the client can't open one of its databases; what else it says tells why", "local database appears to be damaged"),
	incompatible("", "the client can't open one of its databases: a folder on the way to it is not there, or is shut. The session's file is not at fault", "hist doctor names the files and folders that belong to somebody else or are shut, with the command that gives them back", "unable to open database file"),
	newHint("invalid-utf8", "the client has read bytes that are not UTF-8", agent.Never, agent.Repairable,
		"hist lint SESSION names the bytes, if the file has any; then hist repair --in-place SESSION mends it", []string{"valid utf-8"}),
	newHint("", "the client could not resume from the session's file; the words behind the path say why, if there are any", agent.Never, agent.Resumable,
		"hist lint SESSION says whether the file is at fault; if it is not, hist doctor says what else of the client's home is", []string{"failed to resume session from"}),
}

// aboutHome makes a hint from what the client's own doctor says of its home; the session in hand need not be meant.
func aboutHome(rule, text string, words ...string) agent.Meaning {
	return newHint(rule, text, agent.Now, agent.Resumable, "hist doctor names each session that is meant, and what mends it", words)
}

// newHint makes a hint; of the step, SESSION stands for the session's id or file.
func newHint(rule, text, same string, verdict agent.Verdict, step string, words []string) agent.Meaning {
	return agent.Meaning{Words: strings.Join(words, " … "), Rule: rule, Text: text, Same: same, Verdict: verdict, Step: step}
}

func unnamed(words string) agent.Meaning {
	return incompatible("provider-missing", "nothing that the client goes by names the thread's model provider", "go on in a thread of its own, with the provider of config.toml: codex fork SESSION", words)
}

func failingDisk(words ...string) agent.Meaning {
	return newHint("", "the disk can't read a part of the file: the drive is failing, and no program is at fault", agent.Never, agent.Corrupt,
		"copy the client's home to another disk, as far as it can be read; hist lint on the copy says of each session what is lost, and hist repair mends it", words)
}

func unloaded(words string) agent.Meaning {
	return newHint("", "the app-server has not loaded the thread: it takes a prompt only for one that the program in front has begun or resumed. A thread without a single turn is in no file", agent.AfterUpgrade, agent.Resumable,
		"hist pre-resume SESSION says whether its file is there; then resume it from a terminal, or with another version of that program", []string{words})
}

func inUse(rule, text string, words ...string) agent.Meaning {
	return newHint(rule, text, agent.Later, agent.InUse, "hist pre-resume SESSION names the process that has it open: end it, then resume the session again", words)
}

func notFound(rule, text string, words ...string) agent.Meaning {
	return newHint(rule, text, agent.Never, agent.NotFound, "hist lint SESSION looks for the file and says what is wrong with it; hist repair SESSION then makes a copy that resumes", words)
}

func corrupt(rule, text string, words ...string) agent.Meaning {
	return newHint(rule, text, agent.Never, agent.Corrupt, "hist lint SESSION says whether another file holds the session", words)
}

func incompatible(rule, text, step string, words ...string) agent.Meaning {
	return newHint(rule, text, agent.Never, agent.Incompatible, step, words)
}

func damagedDatabase(text string, words ...string) agent.Meaning {
	return incompatible("damaged-database", text, "end all clients, then: hist repair SESSION makes a copy that needs no database, and hist lint SESSION names the damaged one", words...)
}

func tooOld(rule, text string, words ...string) agent.Meaning {
	return newHint(rule, text, agent.AfterUpgrade, agent.ClientTooOld, "resume the session with a newer client", words)
}

func repairable(rule, text string, words ...string) agent.Meaning {
	return newHint(rule, text, agent.AfterRepair, agent.Repairable, "hist repair --in-place SESSION", words)
}

// explain says what an error's text means; nil if it is not known.
func explain(text string) *agent.Meaning { return agent.MeaningOf(text, hints) }

// rulesFor are the rules that find what the API refuses, by the kind of what helps (api.Refusal.Mend).
var rulesFor = map[string]string{
	"id": "bad-item-id", "twin-id": "duplicate-item-id", "no-output": "call-without-output", "no-call": "output-without-call",
	"twin-output": "duplicate-output", "twin-call": "duplicate-call", "name": "bad-tool-name", "long": "oversize-call", "arguments": "bad-arguments",
	"image": "bad-image", "image-type": "bad-image", "order": "reasoning-order", "reasoning": "foreign-reasoning", "encrypted": "undecryptable", "empty": "empty-content",
	"surrogate": "lone-surrogate",
}

// ruleFor is the rule that finds what an API refuses, "" if none does or the client speaks to another API.
func ruleFor(api, mend string) string {
	switch {
	case api == "anthropic" || api == "claude" || api == "bedrock":
		return ""
	case mend == "now" || mend == "broken" || mend == "later":
		return "failed-turn"
	}
	return rulesFor[mend]
}
