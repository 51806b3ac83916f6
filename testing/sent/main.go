// Command sent has a real client resume sessions against a stand-in on loopback, each in a fresh home, and prints what it sends: how many
// items, their hash, and how each session differs from the first one named. It is how an operation of hist is measured: name the session
// before it and after it.
//
//	go run ./testing/sent -agent claude -version 2.1.332 before.jsonl after.jsonl
package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/google/uuid"

	claude "github.com/hist-cli/hist/testing/claude/clienttest"
	codex "github.com/hist-cli/hist/testing/codex/clienttest"
)

func main() {
	agent := flag.String("agent", "codex", "whose client: codex or claude")
	version := flag.String("version", "", "of the client")
	show := flag.Bool("show", false, "print each item")
	flag.Parse()
	var first []string
	for i, path := range flag.Args() {
		items, err := sent(context.Background(), *agent, *version, path)
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", path, err)
			os.Exit(1)
		}
		if *show {
			for n, it := range items {
				fmt.Printf("  %3d %.150s\n", n, it)
			}
		}
		fmt.Printf("%s: %d items, sha256 %.12x", path, len(items), sha256.Sum256([]byte(strings.Join(items, "\x00"))))
		if i == 0 {
			first = items
			fmt.Println()
			continue
		}
		fmt.Println(", " + against(first, items))
	}
}

// against says how a session's items relate to those of the first.
func against(first, items []string) string {
	same := 0
	for same < min(len(first), len(items)) && first[same] == items[same] {
		same++
	}
	switch {
	case same == len(first) && same == len(items):
		return "the same"
	case same == len(items):
		return "the first of them"
	}
	differ := 0
	for i := range min(len(first), len(items)) {
		if first[i] != items[i] {
			differ++
		}
	}
	return fmt.Sprintf("the same up to item %d, %d differ", same, differ)
}

func sent(ctx context.Context, agent, version, path string) ([]string, error) {
	dir, err := os.MkdirTemp("", "sent-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if agent == "claude" {
		return ofClaude(ctx, dir, version, path)
	}
	return ofCodex(ctx, dir, version, path)
}

func ofClaude(ctx context.Context, dir, version, path string) ([]string, error) {
	bin, err := claude.Find(version)
	if err != nil {
		return nil, err
	}
	h, err := claude.NewHome(bin, dir)
	if err != nil {
		return nil, err
	}
	defer h.Close()
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	id := strings.TrimSuffix(filepath.Base(path), ".jsonl")
	if uuid.Validate(id) != nil {
		id = uuid.NewString()
	}
	if _, err := h.Put(id, data); err != nil {
		return nil, err
	}
	res, err := h.Resume(ctx, id)
	if err != nil || !res.Resumed() {
		return nil, fmt.Errorf("not resumed: %w: %s", err, res.Stderr+res.Stdout)
	}
	return claude.Items(res.First), nil
}

// fresh are ids that tell of the moment at which they were made.
var fresh = regexp.MustCompile(`01[0-9a-f]{6}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`)

func ofCodex(ctx context.Context, dir, version, path string) ([]string, error) {
	bin, err := codex.Find(version)
	if err != nil {
		return nil, err
	}
	h, err := codex.NewHome(dir, bin)
	if err != nil {
		return nil, err
	}
	defer h.Close()
	id, err := h.AddSession(path)
	if err != nil {
		return nil, err
	}
	res := h.Resume(ctx, id, "hist measures this resume")
	if len(res.Requests) == 0 {
		return nil, fmt.Errorf("not resumed: %s", res.Stderr)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var items []string
	var body struct{ Input []json.RawMessage }
	if err := json.Unmarshal(res.Requests[0].Body, &body); err != nil {
		return nil, err
	}
	for _, it := range body.Input {
		var v map[string]any
		if err := json.Unmarshal(it, &v); err != nil {
			return nil, err
		}
		delete(v, "internal_chat_message_metadata_passthrough")
		if id, ok := v["id"].(string); ok && !strings.Contains(string(file), id) {
			delete(v, "id") // the client makes it anew in each run
		}
		text, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		items = append(items, fresh.ReplaceAllString(strings.ReplaceAll(string(text), h.Root, "HOME"), "ID"))
	}
	return items, nil
}
