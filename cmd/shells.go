package cmd

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"text/template"

	"github.com/urfave/cli/v2"
)

//go:embed completion.tmpl
var completionText string

// shells are those that a completion can be written for; each is a template of that name.
var shells = []string{"bash", "zsh", "fish", "powershell"}

func completionCommand(e *env) *cli.Command {
	return &cli.Command{
		Name: "completion", Usage: "print the completion of commands and flags for a shell", ArgsUsage: "bash|zsh|fish|powershell",
		Description: describe("In bash: source <(hist completion bash). In zsh: source <(hist completion zsh). In fish: hist completion fish | source.\n" +
			"In PowerShell: hist completion powershell | Out-String | Invoke-Expression."),
		OnUsageError: onUsageError,
		Action: func(c *cli.Context) error {
			shell := c.Args().First()
			if c.NArg() != 1 || !slices.Contains(shells, shell) {
				return usage("completion takes one shell: %s", strings.Join(shells, ", "))
			}
			t, err := template.New("").Parse(completionText)
			if err != nil {
				return err
			}
			if err := t.ExecuteTemplate(e.out, shell, completed(c.App)); err != nil {
				return fmt.Errorf("writing the completion: %w", err)
			}
			return nil
		},
	}
}

// completedCommand is what a shell completes of a command.
type completedCommand struct {
	Name  string
	Flags []string // with their dashes
}

// completed lists the commands with their flags.
func completed(app *cli.App) []completedCommand {
	var list []completedCommand
	for _, command := range app.Commands {
		if command.Hidden {
			continue
		}
		one := completedCommand{Name: command.Name}
		for _, flag := range append(slices.Clone(command.Flags), cli.HelpFlag) {
			if name := flag.Names()[0]; !slices.Contains(one.Flags, "--"+name) {
				one.Flags = append(one.Flags, "--"+name)
			}
		}
		list = append(list, one)
	}
	return list
}

func manCommand(e *env) *cli.Command {
	return &cli.Command{
		Name: "man", Usage: "print the man page",
		Description:  describe("To read it: hist man | man -l -. To install it: hist man > /usr/local/share/man/man1/hist.1."),
		OnUsageError: onUsageError,
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return usage("man takes no arguments")
			}
			page, err := c.App.ToManWithSection(1)
			if err != nil {
				return fmt.Errorf("making the man page: %w", err)
			}
			_, err = fmt.Fprintln(e.out, page)
			return err
		},
	}
}
