package front

import (
	"os"

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
	parse     func(args []string) argv.Command
}

// Programs are Codex, and codex-acp, which has Codex linked in and is spoken to by editors.
var Programs = [...]Program{
	{"codex", "HIST_CODEX", argv.Parse},
	{"codex-acp", "HIST_CODEX_ACP", argv.ParseACP},
}

// Mode is what the shim does about a session.
type Mode string

// The modes.
const (
	Off    Mode = "off"    // nothing
	Check  Mode = "check"  // look, never repair
	Repair Mode = "repair" // look, and repair what a repair mends
)

// ModeOf reads the mode from the environment. What is not known is the default: to look, and repair.
func ModeOf() Mode {
	switch m := Mode(os.Getenv(ModeVar)); m {
	case Off, Check:
		return m
	}
	return Repair
}

// Rejoins says whether a new thread may become the lost one.
func Rejoins() bool { return os.Getenv(RejoinVar) == "1" }

// Timeout is how long one look may take, as hist's own --timeout takes it.
func Timeout() string {
	if limit := os.Getenv(TimeoutVar); limit != "" {
		return limit
	}
	return "2s"
}

// Question is the command line of hist that looks at a session for the shim. The session comes last.
func Question(via string, more ...string) []string {
	args := []string{"hist", "pre-resume", "--timeout", Timeout(), "--via", via}
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
