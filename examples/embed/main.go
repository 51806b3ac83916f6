// Embed lints a session and writes a repaired copy of it to standard output, using only the packages lint and repair.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/hist-cli/hist/lint"
	"github.com/hist-cli/hist/repair"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: embed SESSION > COPY")
		os.Exit(2)
	}
	if err := mend(context.Background(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func mend(ctx context.Context, path string) error {
	found, err := lint.File(ctx, path, lint.Options{})
	if err != nil {
		return err
	}
	for _, f := range found.Findings {
		if f.Impact != lint.Notes {
			fmt.Fprintf(os.Stderr, "%s: %s: %s [%s]\n", path, f.Pos, f.Message, f.Rule.Name)
		}
	}
	report, err := repair.Do(ctx, repair.Job{Path: path, Mode: repair.ToStream, Stream: os.Stdout})
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "%s's session: %d records read, %d as they were\n", found.Summary.Agent, report.Totals.Read, report.Totals.Untouched)
	return nil
}
