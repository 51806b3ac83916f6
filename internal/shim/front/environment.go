package front

import (
	"os"
	"time"

	"github.com/hist-cli/hist/internal/shim/argv"
	"github.com/hist-cli/hist/internal/shim/text"
)

// The environment that the shim heeds.
const (
	ModeVar    = "HIST_SHIM"         // off, check, or repair
	RejoinVar  = "HIST_SHIM_REJOIN"  // 1: a new thread becomes the lost one
	TimeoutVar = "HIST_SHIM_TIMEOUT" // for one look

	// seenVar holds the process that has become a client already and the programs that it has been: the process's id and
	// paths, parted by the list separator. Children inherit it, so that the id decides whether it counts.
	seenVar = "HIST_SHIM_SEEN"
)

// RelayName is the name under which hist is a relay of the shim.
const RelayName = "hist-shim-relay"

// Program is one that hist can stand in front of, under its name.
type Program struct {
	Name      string
	ClientVar string // the variable of the environment that may name the real one
	script    string // where npm has its JavaScript, below its directory of modules
	parse     func(args []string) argv.Command
}

// Programs are Codex, and codex-acp, which has Codex linked in and is spoken to by editors.
var Programs = [...]Program{
	{"codex", "HIST_CODEX", "@openai/codex/bin/codex.js", argv.Parse},
	{"codex-acp", "HIST_CODEX_ACP", "@zed-industries/codex-acp/bin/codex-acp.js", argv.ParseACP},
}

// Mode is what the shim does about a session.
type Mode string

// The modes.
const (
	Off    Mode = "off"    // nothing
	Check  Mode = "check"  // look, never repair
	Repair Mode = "repair" // look, and repair what a repair mends
)

// ModeOf reads the mode from the environment: Repair if nothing is set, Check if it is none that is known, so that a
// switch that somebody meant to turn off never repairs.
func ModeOf() Mode {
	m, _ := mode(os.Getenv(ModeVar))
	return m
}

func mode(value string) (m Mode, known bool) {
	for _, w := range [...]struct {
		word string
		mode Mode
	}{{"", Repair}, {"repair", Repair}, {"check", Check}, {"off", Off}, {"0", Off}, {"no", Off}, {"false", Off}} {
		if text.EqualFold(value, w.word) {
			return w.mode, true
		}
	}
	return Check, false
}

// Rejoins says whether a new thread may become the lost one.
func Rejoins() bool { return os.Getenv(RejoinVar) == "1" }

// defaultTimeout is how long one look may take if nothing else is said.
const defaultTimeout = 2 * time.Second

// Timeout is how long one look may take: what the environment says, if that is a duration of more than nothing.
func Timeout() time.Duration {
	limit, _ := timeout(os.Getenv(TimeoutVar))
	return limit
}

func timeout(value string) (limit time.Duration, known bool) {
	limit, err := time.ParseDuration(value)
	if err != nil || limit <= 0 {
		return defaultTimeout, value == ""
	}
	return limit, true
}

// Doubts says what in the environment can't be understood and what holds instead, a line each.
func Doubts() (lines []string) {
	value := os.Getenv(ModeVar)
	if m, known := mode(value); !known {
		lines = append(lines, ModeVar+"="+value+" is not one of off, check and repair: "+string(m)+" holds")
	}
	value = os.Getenv(TimeoutVar)
	if limit, known := timeout(value); !known {
		lines = append(lines, TimeoutVar+"="+value+" is no time above zero with its unit, as 2s: "+limit.String()+" holds")
	}
	return lines
}

// Question is the command line of hist that looks at a session for the shim. The session comes last.
func Question(via string, more ...string) []string {
	args := []string{"hist", "pre-resume", "--timeout", Timeout().String(), "--via", via}
	if ModeOf() == Repair {
		args = append(args, "--repair")
	}
	return append(args, more...)
}

// seen returns the programs that this process, or the one that started it, has been or has tried to be.
func seen() (paths []string, own bool) {
	list := text.Split(os.Getenv(seenVar), os.PathListSeparator)
	switch list[0] {
	case text.Itoa(os.Getpid()):
		return list[1:], true
	case text.Itoa(os.Getppid()):
		return list[1:], false
	}
	return nil, false
}

// remember sets the variable that seen reads.
func remember(paths ...string) {
	value := text.Itoa(os.Getpid())
	for _, path := range paths {
		value += string(os.PathListSeparator) + path
	}
	os.Setenv(seenVar, value) //nolint:errcheck // no name and value that it refuses
}

// base is the last element of a path, without .exe.
func base(path string) string {
	return text.TrimSuffix(text.Base(path, '/', os.PathSeparator), ".exe")
}

// Invoked is the program as which the process was started, nil if as none: then it is no shim.
func Invoked(args []string) *Program {
	for i := range Programs {
		if len(args) > 0 && base(args[0]) == Programs[i].Name {
			return &Programs[i]
		}
	}
	return nil
}
