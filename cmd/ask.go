package cmd

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// asks says whether a question can be asked: standard input and standard error are both terminals.
func (e *env) asks() bool {
	in, ok := e.in.(*input)
	if !ok {
		return false
	}
	f, ok := in.in.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && isTerminal(e.err)
}

// agreed asks a question that is answered with y or n. Anything else counts as no.
func (e *env) agreed(question string) (bool, error) {
	fmt.Fprintf(e.err, "%s [y/N] ", question)
	line, err := bufio.NewReader(e.in).ReadString('\n')
	if err != nil && err != io.EOF {
		return false, err
	}
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes", nil
}
