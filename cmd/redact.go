package cmd

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/runs"
	"github.com/hist-cli/hist/internal/surgery"
	"github.com/hist-cli/hist/repair"
)

func redactCommand(e *env) *cli.Command {
	return &cli.Command{
		Name: "redact", Usage: "write a copy of a session without the secrets in it", ArgsUsage: "PATH|ID ...",
		Description: "Finds secrets by the rules of gitleaks, and puts the same placeholder in the place of each wherever it stands in a text.\nIds, signatures, encrypted contents, images, hashes and names of tools are never touched; what can't be altered, such\nas thinking with a secret in it, is taken out. Other files that hold the secrets are named.",
		Flags: operationFlags("",
			&cli.BoolFlag{Name: "list", Usage: "only list kinds and places of secrets, never the secrets"},
			&cli.StringSliceFlag{Name: "pattern", Usage: "what this regular `EXPRESSION` matches, or its first group, is a secret, too; may be given more than once"},
			&cli.StringSliceFlag{Name: "allow", Usage: "what this regular `EXPRESSION` matches is no secret; may be given more than once"},
			&cli.BoolFlag{Name: "drop-encrypted", Usage: "take out compactions that only the provider can read; otherwise such a session is refused"},
			&cli.BoolFlag{Name: "all-stores", Usage: "with --in-place: also in what the client keeps beside the sessions: databases, lists, results, sub-agents, edited files"},
			&cli.BoolFlag{Name: "keep-original", Usage: "with --in-place: keep the original, with its secrets, in the run's record, so that undo works"},
		),
		Action: e.redact,
	}
}

func (e *env) redact(c *cli.Context) error {
	if c.Bool("keep-original") && !c.Bool("in-place") {
		return usage("--keep-original goes with --in-place: a copy leaves the original as it is")
	}
	if c.Bool("all-stores") && (!c.Bool("in-place") || c.Bool("dry-run")) {
		return usage("--all-stores goes with --in-place: a copy holds nothing of them, and leaves them as they are")
	}
	opts := surgery.RedactOptions{Salt: make([]byte, 16), DropEncrypted: c.Bool("drop-encrypted")}
	if _, err := rand.Read(opts.Salt); err != nil {
		return err
	}
	patterns, err := expressions(c, "pattern")
	if err != nil {
		return err
	}
	allowed, err := expressions(c, "allow")
	if err != nil {
		return err
	}
	if opts.Finder, err = surgery.NewFinder(patterns, allowed); err != nil {
		return err
	}
	if c.Bool("list") {
		return e.listSecrets(c, opts)
	}
	found := map[string]string{}
	op := operation{name: "redact", forget: c.Bool("in-place") && !c.Bool("keep-original"), plan: func(s *surgery.Session, of surgery.Surgeon) (*surgery.Plan, error) {
		r, err := surgery.Redact(s, of, opts)
		if err != nil {
			return nil, err
		}
		maps.Copy(found, r.Tags)
		return r.Plan, nil
	}}
	if op.forget {
		if err := runs.RemoveForgotten(); err != nil {
			return err
		}
	}
	if c.Bool("all-stores") {
		if err := e.redactStores(c, &opts, op); err != nil {
			return err
		}
	}
	err = e.operate(c, op)
	if len(found) > 0 && c.Bool("in-place") {
		e.otherHolders(c, found)
	}
	return err
}

// expressions are the regular expressions that a flag gives.
func expressions(c *cli.Context, flag string) (list []*regexp.Regexp, err error) {
	for _, text := range c.StringSlice(flag) {
		r, err := regexp.Compile(text)
		if err != nil {
			return nil, usage("--%s: %w", flag, err)
		}
		list = append(list, r)
	}
	return list, nil
}

// listSecrets prints the kind and the place of each secret.
func (e *env) listSecrets(c *cli.Context, opts surgery.RedactOptions) error {
	s, err := e.sessionOf(c, "redact --list", true)
	if err != nil {
		return err
	}
	opts.DropEncrypted = true // nothing is written
	r, err := surgery.Redact(s, all.Surgeon(s.Agent), opts)
	if err != nil {
		return err
	}
	slices.SortStableFunc(r.Hits, func(a, b surgery.Hit) int { return a.Pos.Compare(b.Pos) })
	for _, h := range r.Hits {
		fmt.Fprintf(e.out, "%s: %s in %s\n", h.Pos, h.Kind, cmp.Or(h.Path, "the record"))
	}
	fmt.Fprintf(e.out, "%s in %s\n", count(len(r.Secrets), "secret", "secrets"), count(len(r.Hits), "place", "places"))
	return nil
}

// otherHolders names the files beside the sessions that hold the secrets, too.
func (e *env) otherHolders(c *cli.Context, found map[string]string) {
	list, err := e.named(c)
	if err != nil {
		return
	}
	secrets := slices.Collect(maps.Keys(found))
	for _, s := range storesOf(list) {
		data, err := os.ReadFile(s.Path)
		if err != nil {
			continue
		}
		if n := surgery.HeldBy(data, secrets); n > 0 {
			fmt.Fprintf(e.err, "hist: %s holds %s of these, too; it was left as it is\n", oneLine(s.Path), count(n, "secret", "secrets"))
		}
	}
}

// storesOf are the files beside some sessions, each once.
func storesOf(list []target) (stores []repair.Store) {
	seen := map[string]bool{}
	for _, t := range list {
		for _, path := range besideOf(t) {
			if _, err := os.Stat(path); err == nil && !seen[path] {
				seen[path] = true
				stores = append(stores, repair.Store{Path: path, Home: t.home})
			}
		}
	}
	return stores
}

// secretsOf adds the secrets of the sessions that the command line names to those that are known. What it reads with is closed then: nobody
// may have the databases open that are to be replaced.
func (e *env) secretsOf(c *cli.Context, opts *surgery.RedactOptions) ([]target, error) {
	shared := c.Context
	ctx, done := disk.WithScratch(shared)
	c.Context = ctx
	defer func() {
		c.Context = shared
		done()
	}()
	list, err := e.named(c)
	if err != nil {
		return nil, err
	}
	opts.Known = map[string]string{}
	for _, t := range list {
		s, err := e.readSession(c, t, true)
		if err != nil {
			return nil, err
		}
		if err := unused(t, s.Info.ID); err != nil {
			return nil, &exitError{ExitInUse, err}
		}
		r, err := surgery.Redact(s, all.Surgeon(s.Agent), *opts)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.path, err)
		}
		maps.Copy(opts.Known, r.Tags)
	}
	return list, nil
}

// redactStores takes the secrets of some sessions out of what their clients keep beside them. That comes first: whatever ends it in
// between, the sessions still tell what is to be taken out, so the same command finishes it.
func (e *env) redactStores(c *cli.Context, opts *surgery.RedactOptions, op operation) error {
	list, err := e.secretsOf(c, opts)
	if err != nil {
		return err
	}
	if len(opts.Known) == 0 {
		return nil
	}
	run, err := runs.New(Version())
	if err == nil && op.forget {
		err = run.Forget()
	}
	if err != nil {
		return err
	}
	by := strings.NewReplacer(surgery.Pairs(opts.Known)...)
	done := 0
	for _, s := range storesOf(list) {
		var changed bool
		switch {
		case strings.HasSuffix(s.Path, "-wal"): // goes into its database
			continue
		case all.Part(s.Path):
			var rep *repair.Report
			rep, err = repair.Do(c.Context, repair.Job{Path: s.Path, Home: s.Home, Operation: op.kept(), Mode: repair.InPlace, Begin: func() (*runs.Run, error) { return run, nil }})
			changed = rep != nil && rep.Run != ""
		default:
			changed, err = s.Replacing(by).Rewrite(c.Context, run)
		}
		if err != nil {
			err = fmt.Errorf("the sessions still hold the secrets, so the same command finishes it: %w", err)
			if errors.Is(err, disk.ErrBusy) {
				err = &exitError{ExitInUse, err}
			}
			break
		}
		if changed {
			done++
			fmt.Fprintf(e.out, "%s: the secrets were taken out\n", oneLine(s.Path))
		}
	}
	switch {
	case done == 0:
		return errors.Join(err, run.Discard())
	case op.forget:
		return errors.Join(err, runs.Remove(run.Manifest.Run))
	}
	fmt.Fprintf(e.out, "undo of these: hist undo %s\n", run.Manifest.Run)
	return err
}

// besideSession are the files that its client keeps of one session elsewhere than in the session.
func besideSession(t target) (list []string) {
	name := filepath.Base(t.path)
	id := strings.TrimSuffix(name, ".jsonl")
	if id == name || len(id) != 36 {
		return nil
	}
	dirs := []string{filepath.Join(filepath.Dir(t.path), id)}
	if t.home != "" {
		dirs = append(dirs, filepath.Join(t.home, "file-history", id))
	}
	for _, dir := range dirs {
		filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error { //nolint:errcheck // what can't be read is not there
			if err == nil && d.Type().IsRegular() {
				list = append(list, path)
			}
			return nil
		})
	}
	return list
}

// besideOf are the files in which a client keeps what its sessions hold a second time.
func besideOf(t target) []string {
	list := besideSession(t)
	if t.home == "" {
		return list
	}
	if h := all.AtHome(absolute(t.path), t.home); h != nil {
		list = append(list, h.Lists(t.home)...)
	}
	for _, pattern := range []string{"*.sqlite", "*.sqlite-wal", filepath.Join("*", "*.sqlite"), filepath.Join("*", "*.sqlite-wal")} {
		if found, err := filepath.Glob(filepath.Join(t.home, pattern)); err == nil {
			list = append(list, found...)
		}
	}
	return list
}
