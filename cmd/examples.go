package cmd

// sample is a command line, and what it does.
type sample struct{ line, does string }

// examples are those of each command, in its help and in the man page. A test runs all of them.
var examples = map[string][]sample{
	"doctor": {
		{"hist doctor", "what is wrong with my sessions, and what to do about it"},
		{"hist doctor --json", "the same for a program"},
	},
	"lint": {
		{"hist lint", "what is wrong with your sessions"},
		{"hist lint --last", "what is wrong with the one that codex resume --last would pick here"},
		{"hist lint --statistics --notes", "how often each rule finds something"},
		{"hist lint -f text,sarif=hist.sarif transcripts", "a directory: text for you, a file for code scanning"},
	},
	"repair": {
		{"hist repair -n 01a1fa85-bfc3", "what a repair would change"},
		{"hist repair 01a1fa85-bfc3", "make a copy that resumes; the last lines say how to resume it"},
		{"hist repair -i 01a1fa85-bfc3", "replace the session's own file, so that its id stays"},
		{"hist repair -n --html repair.html 01a1fa85-bfc3", "the changes as a page for a browser"},
		{"hist repair --only exact,recovered --yes", "all sessions, but only fixes that lose nothing"},
	},
	"slim": {
		{"hist slim -n 01a1fa85-bfc3", "how much smaller it would get, and that the same is sent"},
		{"hist slim 01a1fa85-bfc3", "make the smaller copy"},
		{"hist slim --level marked --keep-images 1 01a1fa85-bfc3", "smaller still: old images and long outputs are replaced by notes"},
		{"hist slim --all --older-than 30d -n", "what there is to gain in old sessions"},
	},
	"cut": {
		{"hist cut --last 1 01a1fa85-bfc3", "a copy without the last turn"},
		{"hist cut --after-turn 1 -n 01a1fa85-bfc3", "what would be left"},
	},
	"fork": {
		{"hist fork 01a1fa85-bfc3", "a copy that can go another way"},
		{"hist fork --after-turn 1 01a1fa85-bfc3", "the same from the first turn on"},
	},
	"move": {
		{"hist move --to ~/work/notes -n 01a1fa85-bfc3", "what would change"},
		{"hist move --to ~/work/notes 01a1fa85-bfc3", "the session follows its project there"},
		{"hist move --all --from ~/old --to ~/new", "all sessions of a directory"},
		{"hist move --bundle notes.tgz 01a1fa85-bfc3", "for another machine, where hist move notes.tgz brings it in"},
	},
	"redact": {
		{"hist redact --list 01a1fa85-bfc3", "what secrets there are, and where; never the secrets"},
		{"hist redact 01a1fa85-bfc3", "a copy without them"},
		{"hist redact --pattern 'acme-[0-9]{6}' -n 01a1fa85-bfc3", "with a kind of your own"},
	},
	"join": {
		{"hist join -n 01a1fa85-bfc3 transcripts/*bfc3*", "what the second copy has and the first lacks"},
	},
	"handoff": {
		{"hist handoff --to claude -n 01a1fa85-bfc3", "what would arrive, and what not"},
		{"hist handoff --to claude 01a1fa85-bfc3", "go on in Claude Code"},
	},
	"export": {
		{"hist export 01a1fa85-bfc3", "what is sent, as Markdown"},
		{"hist export --all -f text 01a1fa85-bfc3", "everything, as plain text"},
	},
	"undo": {
		{"hist undo -n", "what undoing the last repair would do"},
		{"hist undo", "undo it"},
	},
	"runs": {
		{"hist runs", "the repairs on record"},
		{"hist runs show 20", "one of them, by the beginning of its id: what it changed, and how to undo it"},
		{"hist runs prune --older-than 30d -n", "what would be removed"},
	},
	"pre-resume": {
		{"hist pre-resume 01a1fa85-bfc3", "can this session be resumed, and how"},
		{"hist pre-resume --last --repair --exec", "repair the last session if need be, and resume it"},
		{"hist pre-resume --repair 01a1fa85-bfc3 --exec -- codex exec resume 01a1fa85-bfc3 'go on'", "the same, with a command of your own"},
		{"hist pre-resume --json --show-content 01a1fa85-bfc3", "the answer for a program"},
	},
	"resume": {
		{"hist resume", "go on with what this directory's last session was"},
		{"hist resume 01a1fa85-bfc3", "go on with this one; if it is damaged, it is repaired first"},
	},
	"version": {{"hist version", "which release or commit this is"}},
	"plugin": {
		{"hist plugin install", "for all agents that are used here"},
		{"hist plugin install --agent codex", "for one; hist plugin remove takes it away again"},
	},
	"shim": {
		{"hist shim install ~/.local/share/hist/bin", "put hist in front of codex, where that directory comes first in PATH"},
		{"hist shim status", "which client is behind it, and what was decided last"},
	},
	"list": {
		{"hist list --cwd . --since 7d", "what was done here this week"},
		{"hist list --state open,failed", "sessions whose last turn did not end well"},
		{"hist list --health --json", "everything, for a program"},
	},
	"show": {
		{"hist show --last", "what happened in this directory's last session"},
		{"hist show --html session.html --show-content 01a1fa85-bfc3", "the same as a page for a browser, with what was said"},
		{"hist show -f jsonl 01a1fa85-bfc3", "one object per line, for a program"},
	},
	"explain": {
		{"hist explain call-without-output", "what a rule means, and what a repair does"},
		{"hist explain --error 'unexpected status 400: No tool output found for function call call_1'", "what a client's error means"},
	},
	"watch": {
		{"hist watch", "watch the agents' homes"},
		{"hist watch --exec 'hist repair \"$HIST_SESSION\"'", "make a copy that resumes of each session found damaged"},
	},
	"cache": {
		{"hist cache status", "what it holds"},
	},
	"completion": {
		{"source <(hist completion bash)", "in ~/.bashrc"},
	},
	"man": {
		{"hist man | man -l -", "read it"},
	},
}
