package front

import (
	"errors"
	"os"
	"time"
)

// The environment variables that the shim reads.
const (
	ModeVar    = "HIST_SHIM"         // off, check, or repair
	RejoinVar  = "HIST_SHIM_REJOIN"  // 1: resume the lost thread where the caller would begin a new one
	TimeoutVar = "HIST_SHIM_TIMEOUT" // for one check of a session

	// triedVar holds the id of the process that set it and the paths of the programs that this process has tried to become,
	// separated by the list separator. Children inherit the variable; the id says whether it is about the process at hand.
	triedVar = "HIST_SHIM_SEEN"
)

// RelayName is the argv[0] under which hist runs as a relay of the shim.
const RelayName = "hist-shim-relay"

// Program is a client that hist can stand in front of, under the client's name.
type Program struct {
	Name      string
	ClientVar string // the environment variable that may name the real client
	script    string // the path of its JavaScript below npm's node_modules
	parse     func(args []string) Command
}

// Programs are Codex, and codex-acp, which has Codex linked in and serves editors.
var Programs = [...]Program{
	{"codex", "HIST_CODEX", "@openai/codex/bin/codex.js", Parse},
	{"codex-acp", "HIST_CODEX_ACP", "@zed-industries/codex-acp/bin/codex-acp.js", ParseACP},
}

// Mode is what the shim does about a session.
type Mode string

// The modes.
const (
	Off    Mode = "off"    // nothing
	Check  Mode = "check"  // check, never repair
	Repair Mode = "repair" // check, and repair what can be repaired
)

// ModeOf reads the mode from the environment: Repair if it is not set, Check if the value is unknown, so that a misspelt
// "off" never repairs.
func ModeOf() Mode {
	m, _ := mode(os.Getenv(ModeVar))
	return m
}

func mode(value string) (m Mode, known bool) {
	for _, w := range [...]struct {
		word string
		mode Mode
	}{{"", Repair}, {"repair", Repair}, {"check", Check}, {"off", Off}, {"0", Off}, {"no", Off}, {"false", Off}} {
		if equalFold(value, w.word) {
			return w.mode, true
		}
	}
	return Check, false
}

// Rejoins says whether a lost thread may be resumed where the caller would begin a new one: as the environment says, else as was
// kept; false if the value is unknown.
func Rejoins() bool {
	value := os.Getenv(RejoinVar)
	if value == "" {
		return Kept()
	}
	on, _ := rejoins(value)
	return on
}

// keptFile is there, in hist's state directory, if shims rejoin although the environment does not say so. The directory is that of
// package disk, which would bring with it what takes time before the client runs.
func keptFile() (path, dir string, err error) {
	const slash = string(os.PathSeparator)
	if dir = os.Getenv("XDG_STATE_HOME"); !hasPrefix(dir, slash) {
		dir, err = os.UserHomeDir()
		dir += slash + ".local" + slash + "state"
	}
	dir += slash + "hist"
	return dir + slash + "shim-rejoin", dir, err
}

// Kept says whether Keep was called.
func Kept() bool {
	path, _, err := keptFile()
	if err == nil {
		_, err = os.Stat(path)
	}
	return err == nil
}

// Keep makes all shims of this user rejoin from now on, or takes that back.
func Keep(on bool) error {
	path, dir, err := keptFile()
	switch {
	case err != nil:
		return err
	case on:
		return errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(path, nil, 0o600))
	}
	if err := os.Remove(path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

func rejoins(value string) (on, known bool) {
	for _, w := range [...]struct {
		word string
		on   bool
	}{{"", false}, {"1", true}, {"yes", true}, {"true", true}, {"on", true}, {"0", false}, {"no", false}, {"false", false}, {"off", false}} {
		if equalFold(value, w.word) {
			return w.on, true
		}
	}
	return false, false
}

// defaultTimeout is how long one check of a session may take if the environment does not say.
const defaultTimeout = 2 * time.Second

// Timeout is how long one check of a session may take: what the environment says, if that is a duration above zero.
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

// Warnings returns a line for each environment variable whose value is not understood: the value, and what is used instead.
func Warnings() (lines []string) {
	value := os.Getenv(ModeVar)
	if m, known := mode(value); !known {
		lines = append(lines, ModeVar+"="+value+" is not one of off, check and repair; using "+string(m))
	}
	value = os.Getenv(RejoinVar)
	if _, known := rejoins(value); !known {
		lines = append(lines, RejoinVar+"="+value+" is neither on nor off; using off")
	}
	value = os.Getenv(TimeoutVar)
	if limit, known := timeout(value); !known {
		lines = append(lines, TimeoutVar+"="+value+" is not a time above zero with a unit, such as 2s; using "+limit.String())
	}
	return lines
}

// CheckCommand returns the hist command line that checks a session for the shim. The session comes last.
func CheckCommand(via string, more ...string) []string {
	args := []string{"hist", "pre-resume", "--timeout", Timeout().String(), "--via", via}
	if ModeOf() == Repair {
		args = append(args, "--repair")
	}
	return append(args, more...)
}

// alreadyTried returns the paths of the programs that this process, or its parent, has tried to become. own says that it
// was this process.
func alreadyTried() (paths []string, own bool) {
	list := split(os.Getenv(triedVar), os.PathListSeparator)
	switch list[0] {
	case itoa(os.Getpid()):
		return list[1:], true
	case itoa(os.Getppid()):
		return list[1:], false
	}
	return nil, false
}

// rememberTried sets the variable that alreadyTried reads.
func rememberTried(paths ...string) {
	value := itoa(os.Getpid())
	for _, path := range paths {
		value += string(os.PathListSeparator) + path
	}
	os.Setenv(triedVar, value) //nolint:errcheck // Setenv accepts this name and value
}

// base is the last element of a path, without .exe.
func base(path string) string {
	return trimSuffix(lastPart(path, '/', os.PathSeparator), ".exe")
}

// Invoked returns the client under whose name this process was started; nil if it was started as hist itself.
func Invoked(args []string) *Program {
	for i := range Programs {
		if len(args) > 0 && base(args[0]) == Programs[i].Name {
			return &Programs[i]
		}
	}
	return nil
}
