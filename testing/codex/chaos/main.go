package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/hist-cli/hist/testing/codex/clienttest"
)

type options struct {
	seed             uint64
	sessions, jobs   int
	damage           int
	versions         string
	hist, keep, base string
	replay           string
	strict, foreign  bool
	most             time.Duration
}

func main() {
	clienttest.MCPMain()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, ok := optionsOf(args, stderr)
	if !ok {
		return 2
	}
	fail := func(err error) int {
		fmt.Fprintln(stderr, "chaos:", err)
		return 2
	}
	cleanUp, err := o.prepare(ctx)
	defer cleanUp()
	if err != nil {
		return fail(err)
	}
	b := bench{hist: o.hist, keep: o.keep}
	if o.foreign {
		b.foreign = foreign
	}
	if o.replay != "" {
		out, err := b.replay(ctx, o.replay)
		if err != nil {
			return fail(err)
		}
		out.print(stdout)
		return 0
	}
	versions, err := o.clients()
	if err != nil {
		return fail(err)
	}
	sum := b.all(ctx, o, versions, stderr)
	sum.print(stdout)
	if !sum.good() || o.strict && !sum.strict() {
		return 1
	}
	return 0
}

// optionsOf reads the command line. What is wrong with it is told on stderr.
func optionsOf(args []string, stderr io.Writer) (o options, ok bool) {
	flags := flag.NewFlagSet("chaos", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Uint64Var(&o.seed, "seed", 1, "of the first session; the next has the next")
	flags.IntVar(&o.sessions, "sessions", 20, "sessions to play")
	flags.IntVar(&o.damage, "damage", 0, "play whole sessions, and damage each so many times")
	flags.BoolVar(&o.foreign, "foreign", false, "with -damage: what failing disks, other programs and people do to a file")
	flags.StringVar(&o.versions, "versions", "", "clients, with commas between them, oldest first (default: all that are installed)")
	flags.IntVar(&o.jobs, "j", 3, "sessions at the same time")
	flags.DurationVar(&o.most, "for", time.Hour, "begin no session after this time")
	flags.StringVar(&o.hist, "hist", "", "the program to repair with (default: built from here)")
	flags.StringVar(&o.keep, "keep", "", "directory for the sessions that fall short")
	flags.StringVar(&o.base, "homes", "", "directory for the homes (default: in the user's cache directory)")
	flags.BoolVar(&o.strict, "strict", false, "exit 1 also if one session is worse than before, not named or not measured")
	flags.StringVar(&o.replay, "replay", "", "measure one kept case again")
	if flags.Parse(args) != nil {
		return o, false
	}
	switch {
	case flags.NArg() > 0:
		fmt.Fprintln(stderr, "chaos: takes flags only, not", flags.Arg(0))
	case o.jobs < 1:
		fmt.Fprintln(stderr, "chaos: -j must be at least 1")
	default:
		return o, true
	}
	return o, false
}

// prepare builds hist if none is given, and makes the directory for what is kept.
func (o *options) prepare(ctx context.Context) (cleanUp func(), err error) {
	cleanUp = func() {}
	if o.hist == "" {
		dir, err := os.MkdirTemp("", "chaos-")
		if err != nil {
			return cleanUp, err
		}
		cleanUp = func() { os.RemoveAll(dir) }
		o.hist = filepath.Join(dir, "hist")
		if out, err := exec.CommandContext(ctx, "go", "build", "-o", o.hist, "github.com/hist-cli/hist").CombinedOutput(); err != nil {
			return cleanUp, fmt.Errorf("%w: %s", err, out)
		}
	}
	if o.hist, err = filepath.Abs(o.hist); err != nil { // it is run in other directories
		return cleanUp, err
	}
	if o.keep != "" {
		err = os.MkdirAll(o.keep, 0o700)
	}
	return cleanUp, err
}

// clients are the versions that play.
func (o *options) clients() ([]string, error) {
	versions := clienttest.Versions()
	if o.versions != "" {
		versions = strings.Split(o.versions, ",")
	}
	for _, v := range versions {
		if _, err := clienttest.Find(v); err != nil {
			return nil, err
		}
	}
	if len(versions) == 0 {
		_, err := clienttest.Find("")
		return nil, err
	}
	return versions, nil
}

// all plays and measures all sessions.
func (b bench) all(ctx context.Context, o options, versions []string, log io.Writer) *summary {
	sum := newSummary()
	start := time.Now()
	seeds := make(chan uint64)
	var wg sync.WaitGroup
	var mu sync.Mutex
	for range o.jobs {
		wg.Go(func() {
			for seed := range seeds {
				outs, err := b.session(ctx, o, seed, versions)
				mu.Lock()
				if err != nil {
					fmt.Fprintf(log, "seed %d: %v\n", seed, err)
					sum.failed++
				}
				for _, out := range outs {
					sum.add(out)
				}
				mu.Unlock()
			}
		})
	}
	for i := range o.sessions {
		if ctx.Err() != nil || time.Since(start) > o.most {
			break
		}
		seeds <- o.seed + uint64(i)
	}
	close(seeds)
	wg.Wait()
	return sum
}

// session plays one session and measures it; with -damage, it is measured after each damage.
func (b bench) session(ctx context.Context, o options, seed uint64, versions []string) ([]*outcome, error) {
	p := somePlan(seed, versions, o.damage == 0)
	bin, err := clienttest.Find(p.Versions[0])
	if err != nil {
		return nil, err
	}
	h, err := clienttest.NewHome(o.base, bin)
	if err != nil {
		return nil, err
	}
	defer h.Close()
	if err := h.MCP(); err != nil {
		return nil, err
	}
	pl := newPlayer(h, p)
	if err := pl.play(ctx); err != nil {
		return nil, err
	}
	said := pl.truth.end()
	h.Server.Answer, h.Server.Said = nil, nil
	if pl.path == "" {
		return nil, nil // nothing was written: there is no session
	}
	h.Bin, err = clienttest.Find(p.Versions[len(p.Versions)-1])
	if err != nil {
		return nil, err
	}
	h.Config = append(h.Config, pl.model(h.Bin.Version))
	if p.Fork {
		if err := pl.fork(ctx, h); err != nil {
			pl.log = append(pl.log, "fork: "+err.Error())
		}
	}
	out := outcome{Plan: p, Client: h.Bin.Version, Root: h.Root, Path: pl.path, ID: pl.id, Parent: pl.parent, Log: pl.log}
	if o.damage == 0 {
		return []*outcome{&out}, b.measure(ctx, h, &out, said)
	}
	return b.damaged(ctx, h, out, said, o.damage)
}
