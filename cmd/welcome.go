package cmd

import (
	"fmt"
	"strings"
)

// welcomeLines are what hist prints on a terminal when it is asked for nothing.
var welcomeLines = []sample{
	{"hist doctor", "what is wrong with my sessions, worst first"},
	{"hist repair ID", "make a copy of one that resumes; the original stays as it is"},
	{"hist resume", "check the last session of this directory, repair it if need be, go on"},
	{"hist list", "all sessions: title, age, health"},
	{"hist undo", "take the last repair or other change back"},
}

// welcome says in ten lines what can be done now.
func (e *env) welcome() {
	fmt.Fprint(e.out, "hist finds and repairs damage in the session files of AI coding agents.\n\n")
	wide := 0
	for _, w := range welcomeLines {
		wide = max(wide, len(w.line))
	}
	for _, w := range welcomeLines {
		fmt.Fprintln(e.out, folded(fmt.Sprintf("  %s%s  %s", w.line, strings.Repeat(" ", wide-len(w.line)), w.does), widthOf(e.out), wide+4))
	}
	fmt.Fprint(e.out, "\nhist --help lists all commands; hist COMMAND --help has examples.\n")
}
