// Command gen writes a session to measure with to standard output.
//
//	go run ./internal/corpus/gen -size 524000000 -seed 1 -images > long.jsonl
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/hist-cli/hist/internal/corpus"
)

func main() {
	var o corpus.Options
	flag.Int64Var(&o.Size, "size", 10<<20, "length in bytes")
	flag.Int64Var(&o.Seed, "seed", 1, "another number, another session")
	flag.BoolVar(&o.Paginated, "paginated", false, "with ordinals")
	flag.IntVar(&o.Text, "text", 0, "bytes that half of the texts are longer than")
	flag.BoolVar(&o.Images, "images", false, "with four lines of 20 MB")
	claude := flag.Bool("claude", false, "one of Claude Code's, in place of Codex's")
	flag.Parse()
	write := corpus.Write
	if *claude {
		write = corpus.WriteClaude
	}
	if err := write(os.Stdout, o); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}
