// Command sent has a real client resume sessions against a stand-in on loopback, each in a fresh home and twice, and prints what it sends:
// how much, its hash, and how each session differs from the first one named, in the first request and in the next one. It is how an
// operation of hist is measured: name the session before it and after it. Each goes to the newest client of its agent that was measured, so
// what was handed over goes to the other one.
//
//	go run ./testing/sent before.jsonl after.jsonl
package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/hist-cli/hist/internal/timeline"
	claude "github.com/hist-cli/hist/testing/claude/clienttest"
	codex "github.com/hist-cli/hist/testing/codex/clienttest"
)

func main() {
	version := flag.String("version", "", "of the client, instead of the newest that was measured")
	show := flag.Bool("show", false, "print each item")
	flag.Parse()
	var before [2][]string
	for i, path := range flag.Args() {
		requests, err := sent(context.Background(), *version, path)
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", path, err)
			os.Exit(1)
		}
		fmt.Println(path)
		for n, items := range requests {
			if *show {
				for n, it := range items {
					fmt.Printf("  %3d %.150s\n", n, it)
				}
			}
			fmt.Printf("  the %s request: %d parts, sha256 %.12x", []string{"first", "next"}[n], len(items), sha256.Sum256([]byte(strings.Join(items, "\x00"))))
			if i > 0 {
				fmt.Print(", " + against(before[n], items))
			}
			fmt.Println()
		}
		if i == 0 {
			before = requests
		}
	}
}

// against says how what is sent of a session relates to what is sent of the first.
func against(first, items []string) string {
	if slices.Equal(first, items) {
		return "the same"
	}
	same := 0
	for same < min(len(first), len(items)) && first[same] == items[same] {
		same++
	}
	return fmt.Sprintf("the same up to part %d of %d", same, len(first))
}

// sent is what a real client sends of a session, in two requests.
func sent(ctx context.Context, version, path string) (requests [2][]string, err error) {
	dir, err := os.MkdirTemp("", "sent-")
	if err != nil {
		return requests, err
	}
	defer os.RemoveAll(dir)
	g, err := timeline.Look(ctx, path, timeline.LookOptions{})
	if err != nil {
		return requests, err
	}
	switch g.Agent.Name {
	case "claude":
		bin, err := claude.Find(cmp.Or(version, claude.Newest))
		if err != nil {
			return requests, err
		}
		requests[0], requests[1], err = claude.Requests(ctx, bin, dir, path)
		return requests, err
	case "codex":
		bin, err := codex.Find(cmp.Or(version, codex.Newest))
		if err != nil {
			return requests, err
		}
		requests[0], requests[1], err = codex.Requests(ctx, bin, dir, path)
		return requests, err
	}
	return requests, fmt.Errorf("no client of %s is driven here", g.Agent.Title)
}
