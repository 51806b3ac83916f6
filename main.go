// Command hist finds and repairs damage in the session files of AI coding agents.
package main

import (
	"os"

	"github.com/hist-cli/hist/cmd"
)

func main() { os.Exit(cmd.Main(os.Args, os.Stdin, os.Stdout, os.Stderr)) }
