package cmd

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
)

// Exit codes of every command.
const (
	ExitOK       = 0
	ExitFindings = 1 // findings at or above the threshold, or something left unrepaired
	ExitUsage    = 2
	ExitIO       = 3 // something could not be read or written, or nothing was found to look at
	ExitInUse    = 4 // refused because somebody uses the session

	ExitInterrupted = afterSignal + int(syscall.SIGINT)
)

// exitError ends a command with a code. Its text, if any, is printed as the error.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

func exit(code int) error {
	if code == ExitOK {
		return nil
	}
	return &exitError{code: code}
}

// writing is an error of writing what is named, nil if none of errs is one.
func writing(what string, errs ...error) error {
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("writing %s: %w", what, err)
	}
	return nil
}

func usage(format string, args ...any) error {
	return &exitError{ExitUsage, fmt.Errorf(format, args...)}
}

// exitMeaning is what an exit code means: in general, of one command, and in the words of single commands.
type exitMeaning struct {
	code  int
	means string
	one   string            // empty: in general
	words map[string]string // by the commands that they are about, a space between two; an empty text: those in general
	only  bool              // only the commands in words use the code
	never string            // the command that never ends with the code
}

var exitMeanings = []exitMeaning{
	{code: ExitOK, means: "nothing at or above the threshold, or done", one: "done", never: "watch", words: map[string]string{
		"lint":       "nothing at or above the threshold",
		"repair":     "nothing is left unrepaired",
		"pre-resume": "the session can be resumed",
		"list":       "done, whatever the sessions are like",
		"show":       "done, whatever was found",
	}},
	{code: ExitFindings, means: "findings at or above the threshold (lint), something left unrepaired (repair), a session that can't be resumed as it is (pre-resume), or must be repaired first (operations)", only: true, words: map[string]string{
		"doctor":                                 "a session loses something, or worse",
		"lint":                                   "findings at or above the threshold",
		"repair":                                 "something is left unrepaired",
		"pre-resume":                             "the session can't be resumed as it is",
		"resume":                                 "the session can't be resumed as it is; otherwise the client's own code",
		"shim":                                   "PATH leads to no shim (status)",
		"slim join handoff move redact fork cut": "the session must be repaired first",
	}},
	{code: ExitUsage, means: "the command line, or the config, is wrong"},
	{code: ExitIO, means: "something could not be read or written (the rest was done), or there was nothing to look at", words: map[string]string{
		"undo": "something could not be read or written, or the undo was refused for another reason than a session in use",
	}},
	{code: ExitInUse, means: "refused: the session is in use", only: true, words: map[string]string{
		"repair slim join move redact fork cut undo pre-resume resume": "",
	}},
	{code: ExitInterrupted, means: "interrupted by Ctrl-C; 143 by SIGTERM, 129 by a hang-up"},
}

// exitStatus lists what the exit codes of a command mean, as rows of a help page; with "", those of all commands.
func exitStatus(command string) (rows [][2]string) {
	for _, m := range exitMeanings {
		words, own := "", false
		for commands, of := range m.words {
			if slices.Contains(strings.Fields(commands), command) {
				words, own = of, true
			}
		}
		switch {
		case command == "":
			rows = append(rows, [2]string{fmt.Sprint(m.code), m.means})
		case m.never != command && (own || !m.only):
			rows = append(rows, [2]string{fmt.Sprint(m.code), cmp.Or(words, m.one, m.means)})
		}
	}
	return rows
}
