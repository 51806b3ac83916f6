package argv

import "strings"

// number is how many values an option takes.
type number int

const (
	flag number = iota // none
	one
	many // all arguments up to the next option
)

// table holds the options of one command, those of all versions together (0.58 to 0.169: a test holds it against the
// clients' own help).
type table map[string]number

// with adds options to those of another table.
func (t table) with(more table) table {
	sum := table{}
	for _, from := range []table{t, more} {
		for name, n := range from {
			sum[name] = n
		}
	}
	return sum
}

// common are the options of every command.
var common = table{
	"-c": one, "--config": one, "--enable": one, "--disable": one, "--strict-config": flag,
	"-h": flag, "--help": flag, "-V": flag, "--version": flag,
}

// agent are the options of the commands that run a turn.
var agent = common.with(table{
	"-i": many, "--image": many, "-m": one, "--model": one, "--oss": flag, "--local-provider": one, "-p": one, "--profile": one,
	"-s": one, "--sandbox": one, "--full-auto": flag, "--yolo": flag, "--approve-for-me": flag,
	"--dangerously-bypass-approvals-and-sandbox": flag, "--dangerously-bypass-hook-trust": flag,
	"-C": one, "--cd": one, "--worktree": flag, "--add-dir": one,
})

// global are those of the client itself, before a command.
var global = agent.with(table{
	"--remote": one, "--remote-auth-token-env": one, "-a": one, "--ask-for-approval": one, "--search": flag,
	"--no-alt-screen": flag, "--no-daemon": flag,
})

// chat are those of resume and fork.
var chat = global.with(table{"--last": flag, "--all": flag, "--include-non-interactive": flag})

// exec are those of exec. --experimental-json is an older name that help does not show.
var exec = agent.with(table{
	"--thread-source": one, "--cyber-access-program": one, "--skip-git-repo-check": flag, "--trust": flag, "--ephemeral": flag,
	"--ignore-user-config": flag, "--ignore-rules": flag, "--output-schema": one, "--color": one, "--progress-cursor": flag,
	"--json": flag, "--experimental-json": flag, "-o": one, "--output-last-message": one, "--include-plan-tool": flag,
})

// execResume are those of exec resume and exec fork, where an image is one file. Clients take here some of exec's too.
var execResume = exec.with(table{"--last": flag, "--all": flag, "-i": one, "--image": one})

// server are those of app-server.
var server = common.with(table{
	"--listen": one, "--stdio": flag, "--analytics-default-enabled": flag, "--startup-sign-out": flag, "--print-startup-config": flag,
	"--startup-client-info": one, "--cloud-skills-snapshot": one, "--code-mode-host": one, "--ws-auth": one, "--ws-token-file": one,
	"--ws-token-sha256": one, "--ws-shared-secret-file": one, "--ws-issuer": one, "--ws-audience": one, "--ws-max-clock-skew-seconds": one,
})

// tools are app-server's own subcommands: no server to stand in front of.
var tools = set("daemon proxy generate-ts generate-json-schema generate-internal-json-schema help")

// commands are the client's own subcommands, in all versions.
var commands = set("agents exec e review login logout mcp plugin mcp-server app-server remote-control completion update doctor sandbox debug apply a " +
	"resume queue archive delete unarchive migrate-rollouts migrate-nfs-db fork cloud cloud-tasks exec-server features help execpolicy responses-api-proxy")

// execCommands are those of exec.
var execCommands = set("resume fork review help")

func set(words string) map[string]bool {
	in := map[string]bool{}
	for word := range strings.SplitSeq(words, " ") {
		in[word] = true
	}
	return in
}
