package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"
	"github.com/urfave/cli/v2"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/publish"
	"github.com/hist-cli/hist/internal/runs"
	"github.com/hist-cli/hist/internal/surgery"
	"github.com/hist-cli/hist/lint"
)

func handoffCommand(e *env) *cli.Command {
	return &cli.Command{
		Name: "handoff", Usage: "write a session of another agent that goes on from this one", ArgsUsage: "--to AGENT PATH|ID",
		Description: "Writes what the client would send as a session that the other agent's client resumes: prompts and answers, commands\nwith their outputs, images. Calls of tools that it does not have are told as text. hist lists what can't be handed over.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "to", Usage: "the `AGENT` that goes on: codex, claude or pi"},
			&cli.StringFlag{Name: "cwd", Usage: "the `DIR` in which it goes on; by default, the session's own"},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write to `FILE`, which must not exist, instead of the agent's home"},
			&cli.BoolFlag{Name: "dry-run", Aliases: []string{"n"}, Usage: "write nothing, only report"},
			lastFlag(), agentFlag(),
		},
		Action: e.handoff,
	}
}

func (e *env) handoff(c *cli.Context) error {
	to := all.Named(c.String("to"))
	if to == nil || all.Surgeon(to) == nil {
		return usage("--to is %q; it takes codex, claude or pi", c.String("to"))
	}
	s, err := e.sessionOf(c, "handoff", true)
	if err != nil {
		return err
	}
	if s.Agent.Name == to.Name {
		return usage("it is a session of %s already; hist fork copies it", to.Title)
	}
	h, err := surgery.HandOver(s)
	if err != nil {
		return fmt.Errorf("%s: %w", c.Args().First(), err)
	}
	cwd := h.CWD
	if dir := c.String("cwd"); dir != "" {
		if cwd, err = filepath.Abs(dir); err != nil {
			return err
		}
	}
	now := time.Now()
	id, err := uuid.NewV7()
	if err != nil {
		return err
	}
	text := all.Surgeon(to).Compose(h, id.String(), cwd, now)
	path, err := handoffPath(c, to, cwd, to.NewName(now, id.String()), now)
	if err != nil {
		return err
	}
	told, err := checkHandoff(c.Context, to, lint.NameOf(path, c.String("output") == ""), text, h)
	if err != nil {
		return err
	}
	fmt.Fprintln(e.out, folded(fmt.Sprintf("%s told to %s: %s", count(len(h.Steps), "item", "items"), to.Title, told), widthOf(e.out), 2))
	for _, l := range h.Lost {
		fmt.Fprintln(e.out, folded("  left behind: "+l, widthOf(e.out), 4))
	}
	return e.writeHandoff(c, to, path, text, id.String(), cwd)
}

// handoffPath is where the new session goes: where its client looks for it, or where the user says.
func handoffPath(c *cli.Context, to *agent.Agent, cwd, name string, now time.Time) (string, error) {
	if out := c.String("output"); out != "" {
		return filepath.Abs(out)
	}
	if to.Home == nil {
		return "", usage("%s has no home; say where the session goes: --output FILE", to.Title)
	}
	home, err := to.DefaultHome()
	if err != nil {
		return "", err
	}
	dir := ""
	if to.FolderFor != nil {
		dir, err = to.FolderFor(home, cwd)
	} else if to.Archive != nil {
		dir = to.Archive.NewDir(home, now)
	}
	return filepath.Join(dir, name), err
}

// checkHandoff lints what was composed, and reads what its client would send of it: as many words, calls and outputs as were told.
func checkHandoff(ctx context.Context, to *agent.Agent, name lint.Name, text []byte, h *surgery.Handoff) (string, error) {
	res, err := lint.Session(ctx, bytes.NewReader(text), lint.Options{Agent: to.Name, Name: name})
	if err != nil {
		return "", err
	}
	for i := range res.Findings {
		if f := &res.Findings[i]; f.Impact > lint.Notes {
			return "", fmt.Errorf("nothing was written: the session would be damaged: line %d: %s [%s]", f.Pos.Line, f.Message, f.Rule.Name)
		}
	}
	if to.ReadSent == nil {
		return "not read", nil
	}
	sent, err := to.ReadSent(text, agent.ReadAt{Base: name.Base}, "")
	if err != nil {
		return "", err
	}
	return h.Arrives(sent)
}

// writeHandoff writes the new session, with a record of the run.
func (e *env) writeHandoff(c *cli.Context, to *agent.Agent, path string, text []byte, thread, cwd string) error {
	found, err := e.named(c)
	if err != nil {
		return err
	}
	f := &runs.File{Target: path, Mode: runs.Output}
	if from := found[0].path; from != "-" {
		f.Source, f.Home, f.Plan = absolute(from), found[0].home, "handoff "+to.Name+" "+cwd
		if f.SHA256Before, f.SizeBefore, err = runs.Hash(c.Context, f.Source); err != nil {
			return err
		}
		if run, there := earlierHandoff(c.Context, f); there != "" && c.String("output") == "" {
			fmt.Fprintf(e.out, "  run %s wrote it already: %s\n", run, oneLine(there))
			fmt.Fprintf(e.out, "resume: %s\n", resumeOf(c.Context, there, to.Resume(lint.NameOf(there, true).ThreadID)))
			return nil
		}
	}
	if c.Bool("dry-run") {
		fmt.Fprintln(e.out, "  nothing was written (dry run)")
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	t := publish.Target{Path: path, Mode: 0o600}
	run := ""
	if f.Source == "" {
		err = publish.Write(c.Context, t, publish.Bytes(text), publish.Checks{})
	} else {
		run, err = recordHandoff(c.Context, f, t, text)
	}
	if err != nil && !errors.Is(err, publish.ErrPublished) {
		return err
	}
	fmt.Fprintf(e.out, "  written: %s\n", oneLine(path))
	if resume := to.Resume(thread); resume != nil && c.String("output") == "" {
		fmt.Fprintf(e.out, "resume: %s\n", resumeOf(c.Context, path, resume))
	}
	if run != "" {
		fmt.Fprintf(e.out, "undo:   hist undo %s\n", run)
	}
	return err
}

// earlierHandoff is the run that has written the same for the same bytes, and the file, if nobody has gone on with that since.
func earlierHandoff(ctx context.Context, f *runs.File) (run, path string) {
	list, err := runs.List()
	if err != nil {
		return "", "" // a record that can't be read names no file
	}
	for _, m := range list {
		for _, e := range m.Files {
			if e.Source == f.Source && e.Plan == f.Plan && e.SHA256Before == f.SHA256Before && !e.Undone && e.Stands(ctx) {
				return m.Run, e.Target
			}
		}
	}
	return "", ""
}

// recordHandoff writes it with a record, and returns the run's id.
func recordHandoff(ctx context.Context, f *runs.File, t publish.Target, text []byte) (string, error) {
	run, err := runs.New(Version())
	if err != nil {
		return "", err
	}
	err = run.Publish(ctx, f, t, publish.Bytes(text), publish.Checks{})
	if err != nil && !errors.Is(err, publish.ErrPublished) {
		return "", errors.Join(err, run.Discard())
	}
	return run.Manifest.Run, err
}
