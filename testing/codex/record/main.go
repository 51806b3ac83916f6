// Command record plays all scenarios with a real client and writes the session
// files that it leaves, scrubbed, as OUTDIR/VERSION/SCENARIO/rollout-….jsonl.
//
//	go run ./testing/codex/record [-only NAME,…] VERSION [OUTDIR]
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hist-cli/hist/testing/codex/clienttest"
)

func main() {
	clienttest.MCPMain()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stderr)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string, stderr io.Writer) int {
	flags := flag.NewFlagSet("record", flag.ContinueOnError)
	flags.SetOutput(stderr)
	only := flags.String("only", "", "scenarios to play, with commas between them (default: all)")
	raw := flags.Bool("raw", false, "write what the client wrote, unscrubbed")
	base := flags.String("homes", "", "directory for the homes (default: in the user's cache directory)")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if flags.NArg() < 1 || flags.NArg() > 2 {
		fmt.Fprintln(stderr, "usage: record [flags] VERSION [OUTDIR]")
		flags.PrintDefaults()
		return 2
	}
	version, out := flags.Arg(0), "recordings"
	if flags.NArg() == 2 {
		out = flags.Arg(1)
	}
	bin, err := clienttest.Find(version)
	if err != nil {
		fmt.Fprintln(stderr, "record:", err)
		return 2
	}
	wanted := strings.Split(*only, ",")
	code := 0
	for _, s := range clienttest.Scenarios() {
		if *only != "" && !slices.Contains(wanted, s.Name) || !s.For(version) {
			continue
		}
		path, err := record(ctx, bin, *base, s.Name, filepath.Join(out, version, s.Name), *raw)
		if err != nil {
			fmt.Fprintf(stderr, "record: %s %s: %v\n", version, s.Name, err)
			code = 1
			continue
		}
		fmt.Fprintln(stderr, path)
	}
	return code
}

// record plays one scenario in a home of its own and writes its session.
func record(ctx context.Context, bin clienttest.Binary, base, name, dir string, raw bool) (path string, err error) {
	h, err := clienttest.NewHome(base, bin)
	if err != nil {
		return "", err
	}
	defer func() {
		if cerr := h.Close(); err == nil {
			err = cerr
		}
	}()
	res, err := clienttest.Record(ctx, h, name)
	if err != nil {
		return "", err
	}
	data, err := os.ReadFile(res.Rollout)
	if err != nil {
		return "", err
	}
	if !raw {
		if data, err = scrub(data, h.Work, h.Root); err != nil {
			return "", err
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	old, err := filepath.Glob(filepath.Join(dir, "rollout-*.jsonl"))
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, filepath.Base(res.Rollout))
	if err := os.WriteFile(path, data, 0o644); err != nil {
		return "", err
	}
	for _, o := range old { // an earlier recording of the same scenario
		if o != path {
			if err := os.Remove(o); err != nil {
				return "", err
			}
		}
	}
	return path, nil
}
