package cmd

import (
	"strings"

	"github.com/urfave/cli/v2"
)

// named is the key in the app's metadata under which operandsLast leaves how many operands come before "--".
const named = "operands before --"

// operandsLast moves a command's operands behind its flags: the parser stops at the first operand, but users put flags
// anywhere. What follows "--" stays an operand, whatever it looks like. Combined short flags, and a value attached to one
// (-fjson), are split.
func operandsLast(app *cli.App, args []string) ([]string, error) {
	at := 1
	for at < len(args) && strings.HasPrefix(args[at], "-") && args[at] != "-" && args[at] != "--" {
		at++
	}
	if at >= len(args) {
		return args, nil
	}
	command := app.Command(args[at])
	switch {
	case command == nil && args[at] == "help":
		return append(append(args[:1:1], args[at+1:]...), "--help"), nil
	case command == nil:
		return args, nil
	}
	known := flagsOf(command.Flags)
	var flags, operands []string
	before := -1
	for rest := args[at+1:]; len(rest) > 0; rest = rest[1:] {
		a := rest[0]
		switch {
		case a == "--":
			before = len(operands)
			operands = append(operands, rest[1:]...)
			rest = rest[:1]
		case a == "-" || !strings.HasPrefix(a, "-"):
			operands = append(operands, a)
		case a == "--help" || a == "-h":
			return []string{args[0], command.Name, a}, nil // whatever else is given
		default:
			parted, wants := known.part(a)
			flags = append(flags, parted...)
			if !wants {
				continue
			}
			if len(rest) < 2 {
				return nil, usage("%s needs a value; see hist %s --help", a, command.Name)
			}
			flags = append(flags, rest[1])
			rest = rest[1:]
		}
	}
	if flag := known.empty(flags); flag != "" {
		return nil, usage("%s is empty; leave it out, or give it a value", flag)
	}
	if before < 0 {
		before = len(operands)
	}
	app.Metadata = map[string]any{named: before}
	out := append(append([]string{}, args[:at+1]...), flags...)
	return append(append(out, "--"), operands...), nil
}

// namedOperands are the operands before "--", and those after it.
func namedOperands(c *cli.Context) (before, behind []string) {
	all := c.Args().Slice()
	n, ok := c.App.Metadata[named].(int)
	if !ok {
		n = len(all)
	}
	return all[:n], all[n:]
}

// knownFlags says, by a flag's name, whether it takes a value.
type knownFlags map[string]bool

func flagsOf(flags []cli.Flag) knownFlags {
	known := knownFlags{}
	for _, f := range flags {
		_, boolean := f.(*cli.BoolFlag)
		for _, name := range f.Names() {
			known[name] = !boolean
		}
	}
	return known
}

// empty finds a flag with an empty value, as when a script's variable is not set: going on without the value would lint, list
// or repair more than was meant. Values that only go to the log may be empty, because a program may not know them.
func (known knownFlags) empty(flags []string) string {
	for i := 0; i < len(flags); i++ {
		flag, value, with := strings.Cut(flags[i], "=")
		name := strings.TrimLeft(flag, "-")
		if !known[name] {
			continue
		}
		if !with {
			i++
			value = flags[i]
		}
		if value == "" && name != "via" && name != "caller" {
			return flag
		}
	}
	return ""
}

// part splits combined short flags, and says whether the next argument is the last one's value. An unknown flag is left for the
// parser to report.
func (known knownFlags) part(arg string) (flags []string, wants bool) {
	name := strings.TrimLeft(arg, "-")
	takes, long := known[name]
	if long || strings.HasPrefix(arg, "--") || strings.Contains(name, "=") && !known[name[:1]] {
		return []string{arg}, takes
	}
	for i := range len(name) {
		letter := name[i : i+1]
		takes, ok := known[letter]
		switch rest := name[i+1:]; {
		case !ok:
			return []string{arg}, false
		case takes && rest == "":
			return append(flags, "-"+letter), true
		case takes:
			return append(flags, "-"+letter, strings.TrimPrefix(rest, "=")), false
		}
		flags = append(flags, "-"+letter)
	}
	return flags, false
}
