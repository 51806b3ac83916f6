package cmd

import (
	"strings"

	"github.com/urfave/cli/v2"
)

// operandsLast moves a command's operands behind its flags: the parser stops at the first operand, and users put
// flags where they like. What follows "--" stays an operand, whatever it looks like.
func operandsLast(app *cli.App, args []string) ([]string, error) {
	if len(args) < 2 {
		return args, nil
	}
	at := 1
	for at < len(args) && strings.HasPrefix(args[at], "-") && args[at] != "-" && args[at] != "--" {
		at++
	}
	if at == len(args) {
		return args, nil
	}
	command := app.Command(args[at])
	if command == nil && args[at] == "help" {
		return append(append(args[:1:1], args[at+1:]...), "--help"), nil
	}
	if command == nil {
		return args, nil
	}
	takes := valueFlags(command.Flags)
	var flags, operands []string
	for rest := args[at+1:]; len(rest) > 0; rest = rest[1:] {
		a := rest[0]
		switch {
		case a == "--":
			operands = append(operands, rest[1:]...)
			rest = rest[:1]
		case a == "-" || !strings.HasPrefix(a, "-"):
			operands = append(operands, a)
		case a == "--help" || a == "-h":
			return []string{args[0], command.Name, a}, nil // whatever else stands there
		case takesNext(a, takes):
			if len(rest) < 2 {
				return nil, usage("%s needs a value; see hist %s --help", a, command.Name)
			}
			flags = append(flags, a, rest[1])
			rest = rest[1:]
		default:
			flags = append(flags, a)
		}
	}
	out := append(append([]string{}, args[:at+1]...), flags...)
	return append(append(out, "--"), operands...), nil
}

// takesNext says whether the flag's value is the next argument. Short flags may stand together; only the last one
// can take a value then.
func takesNext(arg string, takes map[string]bool) bool {
	if strings.Contains(arg, "=") {
		return false
	}
	name := strings.TrimLeft(arg, "-")
	if takes[name] {
		return true
	}
	return !strings.HasPrefix(arg, "--") && len(name) > 1 && takes[name[len(name)-1:]]
}

func valueFlags(flags []cli.Flag) map[string]bool {
	takes := map[string]bool{}
	for _, f := range flags {
		if _, boolean := f.(*cli.BoolFlag); boolean {
			continue
		}
		for _, name := range f.Names() {
			takes[name] = true
		}
	}
	return takes
}
