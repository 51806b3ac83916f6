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
	f := e.stdin()
	return f != nil && term.IsTerminal(int(f.Fd())) && isTerminal(e.err)
}

// stdin is the file from which standard input comes, nil if it comes from none.
func (e *env) stdin() *os.File {
	in, _ := e.in.(*input)
	if in == nil {
		return nil
	}
	f, _ := in.in.(*os.File)
	return f
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
