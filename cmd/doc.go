// Package cmd is the command line: flags come in, the packages below are called, what they say is shown.
//
// A command begins in the file of its name. Nothing is judged or decided here about a session: that is for lint and repair. What is
// printed goes through ui.go, so that no control character of a file's ever reaches a terminal.
package cmd
