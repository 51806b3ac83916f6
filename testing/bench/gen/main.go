// Command gen writes a session to measure with to standard output, or a home full of them.
//
//	go run ./testing/bench/gen -size 524000000 -seed 1 -images > long.jsonl
//	go run ./testing/bench/gen -home /tmp/codex -sessions 10000 -size 134000 -text 1000
//
// With -paginated and -databases, the home has the client's databases, too.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/hist-cli/hist/internal/testkit/corpus"
)

func main() {
	var o corpus.Options
	flag.Int64Var(&o.Size, "size", 10<<20, "length in bytes")
	flag.Int64Var(&o.Seed, "seed", 1, "another number, another session")
	flag.BoolVar(&o.Paginated, "paginated", false, "with ordinals")
	flag.IntVar(&o.Text, "text", 0, "bytes that half of the texts are longer than")
	flag.BoolVar(&o.Images, "images", false, "with four lines of 20 MB")
	claude := flag.Bool("claude", false, "one of Claude Code's, in place of Codex's")
	home := flag.String("home", "", "write a home to this directory, in place of one session")
	sessions := flag.Int("sessions", 10000, "how many it has; -size is then their mean length")
	databases := flag.Bool("databases", false, "with Codex's databases of the sessions, which must be -paginated")
	flag.Parse()
	if *home != "" {
		err := corpus.Home(*home, *sessions, o, *claude)
		if err == nil && *databases {
			err = corpus.Databases(context.Background(), *home)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "gen:", err)
			os.Exit(1)
		}
		return
	}
	write := corpus.Write
	if *claude {
		write = corpus.WriteClaude
	}
	if err := write(os.Stdout, o); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}
