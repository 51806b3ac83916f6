package front

// Here a command line of Codex is read as the client reads it: which session it names, if any, and how an app-server is reached. A table
// of the client's options (argvtables.go) says which take a value. Where an option is unknown, only a UUID counts as a session, for any
// other word may be that option's value.

// Kind is what a command line does, as far as a program in front of the client needs to know.
type Kind int

// The kinds.
const (
	Other   Kind = iota // nothing that concerns the shim
	Session             // resumes or forks a session
	Server              // runs an app-server
)

// Command is what a command line asks for.
type Command struct {
	Kind Kind

	Session string // Session: an id, a name, or "--last"
	Dir     string // Session: the value of -C, "" without one
	All     bool   // Session: --all was given: sessions of every working directory count
	Chat    bool   // Session: the command is interactive, so that --last means sessions that were begun interactively

	Listen string // Server: the value of --listen, "" without one
	At     int    // Server: the index of the argument that holds it
}

// Parse reads the arguments after the program's name.
func Parse(args []string) Command {
	p := parser{args: args, takes: global}
	switch p.command(commands) {
	case "resume", "fork":
		return p.session(chat, true)
	case "exec", "e":
		p.takes = executing
		switch p.command(execCommands) {
		case "resume", "fork":
			return p.session(execResume, false)
		}
	case "app-server":
		return p.server()
	}
	return p.guess()
}

// ParseACP reads the arguments of codex-acp: whatever they are, it serves an editor on its standard streams, unless they ask
// for help or the version.
func ParseACP(args []string) Command {
	for _, a := range args {
		switch a {
		case "--help", "-h", "--version", "-V":
			return Command{}
		}
	}
	return Command{Kind: Server}
}

// parser walks along a command line.
type parser struct {
	args  []string
	at    int // index of the next argument
	takes table

	word      string // the positional argument that next found, "" at the end
	dashes    bool   // "--" has been read: all that follows is positional
	unknown   bool   // an option that no table has has been read: what follows it may be its value
	help      bool   // help, the version or the like is asked for: no session is opened and no server started
	anyOrigin bool   // sessions count that were not begun interactively, too
	remote    bool   // the sessions are those of a server elsewhere

	cmd   Command
	words []string
}

// next moves on to the next positional argument, past options and their values.
func (p *parser) next() {
	for p.word = ""; p.at < len(p.args); {
		a := p.args[p.at]
		p.at++
		switch {
		case p.dashes || a == "-" || !hasPrefix(a, "-"):
			p.word = a
			return
		case a == "--":
			p.dashes = true
		case hasPrefix(a, "--"):
			p.long(a)
		default:
			p.short(a)
		}
	}
}

// command moves on to the next word that is a known subcommand, and returns it; "" if there is none. A prompt may stand
// before it (measured).
func (p *parser) command(known string) string {
	for p.next(); p.word != "" && !p.dashes; p.next() {
		if has(known, p.word) {
			return p.word
		}
	}
	return ""
}

// long reads an option such as --model o3, --model=o3 or --last.
func (p *parser) long(a string) {
	name, value, given := cut(a, '=')
	n, known := p.takes.find(name)
	switch {
	case !known:
		p.unknown = true
	case n == flag:
		p.option(name, "", p.at-1)
	case given:
		p.option(name, value, p.at-1)
	default:
		p.values(name, n)
	}
}

// short reads options such as -m o3, -mo3, -m=o3, or several flags in one argument.
func (p *parser) short(a string) {
	for i := 1; i < len(a); i++ {
		name := "-" + a[i:i+1]
		n, known := p.takes.find(name)
		switch {
		case !known:
			p.unknown = true
			return
		case n == flag:
			p.option(name, "", p.at-1)
		case i+1 < len(a):
			p.option(name, trimPrefix(a[i+1:], "="), p.at-1)
			return
		default:
			p.values(name, n)
			return
		}
	}
}

// values reads an option's value from the arguments after it. An option of many values takes all up to the next option.
func (p *parser) values(name string, n arity) {
	for p.at < len(p.args) {
		p.at++
		p.option(name, p.args[p.at-1], p.at-1)
		if n == one || p.at == len(p.args) || hasPrefix(p.args[p.at], "-") && p.args[p.at] != "-" {
			return
		}
	}
}

func (p *parser) option(name, value string, at int) {
	switch name {
	case "--help", "-h", "--version", "-V":
		p.help = true
	case "--remote":
		p.remote = true
	case "--cd", "-C":
		p.cmd.Dir = value
	case "--last":
		p.cmd.Session = "--last"
	case "--include-non-interactive":
		p.anyOrigin = true
	case "--all":
		p.cmd.All = true
	case "--listen":
		p.cmd.Listen, p.cmd.At = value, at
	case "--stdio":
		p.cmd.Listen, p.cmd.At = "stdio://", at
	case "--print-startup-config":
		p.help = true
	}
}

// session reads what follows resume or fork.
func (p *parser) session(takes table, interactive bool) Command {
	if p.unknown {
		return p.guess()
	}
	p.takes = takes
	for p.next(); p.word != ""; p.next() {
		p.words = append(p.words, p.word)
	}
	switch {
	case p.help || p.remote:
		return Command{}
	case p.unknown:
		return p.guess()
	case p.cmd.Session == "" && len(p.words) > 0:
		p.cmd.Session = p.words[0]
	}
	if p.cmd.Session == "" {
		return Command{} // the client lets the user choose
	}
	p.cmd.Kind, p.cmd.Chat = Session, interactive && !p.anyOrigin
	return p.cmd
}

// guess finds a session on a command line with unknown options: a UUID after the word resume or fork.
func (p *parser) guess() Command {
	if !p.unknown || p.help || p.remote {
		return Command{}
	}
	afterVerb := false
	for _, a := range p.args {
		switch {
		case a == "resume" || a == "fork":
			afterVerb = true
		case afterVerb && IsID(a):
			return Command{Kind: Session, Session: a, Dir: p.cmd.Dir}
		}
	}
	return Command{}
}

// server reads what follows app-server. A relay can be used even if an option is unknown, because it passes everything
// through; but a subcommand is not a server.
func (p *parser) server() Command {
	p.takes = server
	p.next()
	if p.help || p.word != "" && (!p.unknown || has(serverCommands, p.word)) {
		return Command{}
	}
	p.cmd.Kind = Server
	return p.cmd
}

// IsID says whether a text is a UUID in its usual form.
func IsID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		c := s[i] | 0x20 // letters in lower case; digits and "-" as they are
		switch dash := i == 8 || i == 13 || i == 18 || i == 23; {
		case dash && s[i] != '-', !dash && (s[i] < '0' || s[i] > '9') && (c < 'a' || c > 'f'):
			return false
		}
	}
	return true
}
