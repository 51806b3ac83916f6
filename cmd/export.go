package cmd

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/hist-cli/hist/internal/inspect"
	"github.com/hist-cli/hist/internal/publish"
	"github.com/hist-cli/hist/internal/surgery"
	"github.com/hist-cli/hist/lint"
	"github.com/hist-cli/hist/repair"
)

func exportCommand(e *env) *cli.Command {
	return &cli.Command{
		Name: "export", Usage: "write what a session's client sends as Markdown or plain text", ArgsUsage: "PATH|ID",
		Description: "For a person to read, or for a model to take as context: turns, prompts and answers, with calls and outputs folded and\nlong outputs clipped. It is what the client would send at a resume, so it begins behind the last compaction.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "format", Aliases: []string{"f"}, Value: "markdown", Usage: "`FORMAT` of the text: markdown or text"},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write to `FILE`, which must not exist, instead of standard output"},
			&cli.StringFlag{Name: "images", Usage: "write images as files to `DIR`, named by their contents; otherwise they are only named"},
			&cli.StringFlag{Name: "max-output", Value: "4K", Usage: "clip outputs to this `SIZE`"},
			&cli.BoolFlag{Name: "all", Usage: "also what is not sent, marked, in the order of the file"},
			lastFlag(), agentFlag(),
		},
		Action: e.export,
	}
}

func (e *env) export(c *cli.Context) error {
	opts := surgery.ExportOptions{All: c.Bool("all")}
	switch f := c.String("format"); f {
	case "markdown", "md":
	case "text":
		opts.Plain = true
	default:
		return usage("--format is %q; it takes markdown or text", f)
	}
	var err error
	if opts.MaxOutput, err = sizeOfFlag(c, "max-output"); err != nil {
		return err
	}
	s, err := e.sessionOf(c, "export", false)
	if err != nil {
		return err
	}
	if s.Damaged != nil {
		e.complain("note: what is written is of a damaged session: " + s.Damaged.Error())
	}
	output := c.String("output")
	if dir := c.String("images"); dir != "" {
		opts.Image = imagesIn(dir, filepath.Dir(output))
	}
	toOut := output == "" || output == "-"
	if toOut && !isTerminal(e.out) {
		return surgery.Export(e.out, s, opts)
	}
	var text bytes.Buffer
	if err := surgery.Export(&text, s, opts); err != nil {
		return err
	}
	if toOut { // a file gets the words as they are
		_, err := io.WriteString(e.out, printable(text.String()))
		return err
	}
	return publish.Write(c.Context, publish.Target{Path: output}, publish.Bytes(text.Bytes()), publish.Checks{})
}

// sessionOf reads the one session that the command line names.
func (e *env) sessionOf(c *cli.Context, command string, sound bool) (*surgery.Session, error) {
	operands, err := operandsOf(c)
	if err != nil {
		return nil, err
	}
	if len(operands) != 1 {
		return nil, usage("hist %s takes one session: a file, a session's id, or --last", command)
	}
	list, err := e.targets(c.Context, operands, c.String("agent"))
	if err != nil {
		return nil, err
	}
	if len(list) != 1 {
		return nil, usage("%s names several files, give one of them, such as the newest, %s", operands[0], list[0].path)
	}
	return e.readSession(c, list[0], sound)
}

func (e *env) readSession(c *cli.Context, t target, sound bool) (*surgery.Session, error) {
	if t.err != nil {
		return nil, t.err
	}
	src, err := e.open(t.path)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	opts := lint.Options{}
	if src.Real != "" {
		opts = inspect.Options(src, t.home, clients{})
	}
	s, err := repair.ReadSession(c.Context, src, opts, t.home, sound)
	if code := codeOfOperation(err); code != 0 {
		_, err = unsound(c.Context, t.path, err)
		return nil, &exitError{code, err}
	}
	if err == nil && s.Damaged != nil {
		_, s.Damaged = unsound(c.Context, t.path, s.Damaged)
	}
	return s, err
}

// imagesIn keeps images in a directory, and leads to them from a file in another one.
func imagesIn(dir, from string) func(name string, data []byte) (string, error) {
	return func(name string, data []byte) (string, error) {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return "", fmt.Errorf("--images: %w", err)
		}
		path := filepath.Join(dir, name)
		if _, err := os.Lstat(path); err != nil { // the name is made of the content: a file that is there is the same
			if err := os.WriteFile(path, data, 0o644); err != nil {
				return "", fmt.Errorf("--images: %w", err)
			}
		}
		if rel, err := filepath.Rel(absolute(from), absolute(path)); err == nil {
			path = rel
		}
		return filepath.ToSlash(path), nil
	}
}
