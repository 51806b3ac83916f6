package front

// arity is how many values an option takes.
type arity int

const (
	flag arity = iota // none
	one
	many // all arguments up to the next option
)

// options are names of options, separated by spaces, by how many values they take: none, one, or many. They are constant
// strings rather than maps, since a map would have to be built at every start.
type options struct{ flags, one, many string }

// table holds the options of one command, of all client versions together (0.58 to 0.171; a test compares it with the
// clients' own help). If two entries name the same option, the first counts.
type table []*options

// find says how many values an option takes; known is false if the table does not have it.
func (t table) find(name string) (n arity, known bool) {
	for _, o := range t {
		switch {
		case has(o.flags, name):
			return flag, true
		case has(o.one, name):
			return one, true
		case has(o.many, name):
			return many, true
		}
	}
	return flag, false
}

// has says whether a word is in a list of words separated by spaces.
func has(words, word string) bool {
	for at := 0; at+len(word) <= len(words); {
		end := at
		for end < len(words) && words[end] != ' ' {
			end++
		}
		if words[at:end] == word {
			return true
		}
		at = end + 1
	}
	return false
}

var (
	common = options{
		flags: "--strict-config -h --help -V --version",
		one:   "-c --config --enable --disable",
	}
	turns = options{ // of the commands that run a turn
		flags: "--oss --full-auto --yolo --approve-for-me --dangerously-bypass-approvals-and-sandbox --dangerously-bypass-hook-trust --worktree",
		one:   "-m --model --local-provider -p --profile -s --sandbox -C --cd --add-dir --remote --remote-auth-token-env",
		many:  "-i --image",
	}
	interactive = options{
		flags: "--search --no-alt-screen --no-daemon",
		one:   "-a --ask-for-approval",
	}
	choice  = options{flags: "--last --all --include-non-interactive"}
	running = options{ // --experimental-json is an older name that help does not show
		flags: "--skip-git-repo-check --trust --ephemeral --ignore-user-config --ignore-rules --progress-cursor --json --experimental-json --include-plan-tool",
		one:   "--thread-source --cyber-access-program --output-schema --color -o --output-last-message",
	}
	oneImage = options{one: "-i --image"}
	serving  = options{
		flags: "--stdio --analytics-default-enabled --startup-sign-out --print-startup-config",
		one: "--listen --startup-client-info --cloud-skills-snapshot --code-mode-host --ws-auth --ws-token-file --ws-token-sha256 " +
			"--ws-shared-secret-file --ws-issuer --ws-audience --ws-max-clock-skew-seconds",
	}

	global     = table{&common, &turns, &interactive}                 // of the client itself, before a command
	chat       = table{&common, &turns, &interactive, &choice}        // of resume and fork
	executing  = table{&common, &turns, &running}                     // of exec
	execResume = table{&oneImage, &common, &turns, &running, &choice} // of exec resume and exec fork
	server     = table{&common, &serving}                             // of app-server
)

// Subcommands, of all versions: the client's own, those of exec, and those of app-server, which do something else than
// serve.
const (
	commands = "agents exec e review login logout mcp plugin mcp-server app-server remote-control completion update doctor sandbox debug apply a " +
		"resume queue archive delete unarchive migrate-rollouts migrate-nfs-db fork cloud cloud-tasks exec-server features help execpolicy responses-api-proxy"
	execCommands   = "resume fork review help"
	serverCommands = "daemon proxy generate-ts generate-json-schema generate-internal-json-schema help"
)
