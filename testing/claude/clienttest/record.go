package clienttest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Turn is one prompt and what the model answers until the turn is over.
type Turn struct {
	Prompt  string
	Answers [][]Block
}

func say(text string) Block { return Block{Type: "text", Text: text} }

func bash(id, command string) Block {
	return Block{Type: "tool_use", ID: id, Name: "Bash", Input: object{"command": command, "description": "Run a command"}}
}

// Turns is a session of two prompts: two calls at once, a read, an edit, and a call behind the second prompt.
func (h *Home) Turns() []Turn {
	file := filepath.Join(h.Work, "a.txt")
	return []Turn{
		{"list files please", [][]Block{
			{say("Let me look."), bash("toolu_01a1", "echo one"), bash("toolu_01a2", "echo two")},
			{say("Now the file."), {Type: "tool_use", ID: "toolu_01r1", Name: "Read", Input: object{"file_path": file}}},
			{{Type: "tool_use", ID: "toolu_01e1", Name: "Edit", Input: object{"file_path": file, "old_string": "alpha", "new_string": "gamma"}}},
			{say("All done: one, two, gamma.")},
		}},
		{"and now the third", [][]Block{
			{say("Third now."), bash("toolu_01b1", "echo three")},
			{say("That was three.")},
		}},
	}
}

// Record has the client hold a conversation, each turn in a run of its own, and returns the session's id and its file.
func (h *Home) Record(ctx context.Context, turns []Turn) (id string, data []byte, err error) {
	if err := os.WriteFile(filepath.Join(h.Work, "a.txt"), []byte("alpha\nbeta\n"), 0o600); err != nil {
		return "", nil, err
	}
	for _, turn := range turns {
		args := []string{"-p", turn.Prompt, "--allowedTools", "Bash,Read,Edit,Write"}
		if id != "" {
			args = append(args, "--resume", id)
		}
		res, err := h.run(ctx, turn.Answers, args...)
		if err != nil {
			return "", nil, err
		}
		if !res.Resumed() {
			return "", nil, fmt.Errorf("recording %q: exit code %d: %s%s", turn.Prompt, res.ExitCode, res.Stdout, res.Stderr)
		}
		if id, data, err = h.largest(); err != nil {
			return "", nil, err
		}
	}
	return id, data, nil
}

// largest is the session of the home with the most bytes: some versions leave stubs beside it.
func (h *Home) largest() (id string, data []byte, err error) {
	paths, err := filepath.Glob(filepath.Join(h.Projects(), "*-*-*-*-*.jsonl"))
	if err != nil || len(paths) == 0 {
		return "", nil, errors.Join(err, errors.New("the client has written no session"))
	}
	size := func(p string) int64 {
		info, err := os.Stat(p)
		if err != nil {
			return -1
		}
		return info.Size()
	}
	path := slices.MaxFunc(paths, func(a, b string) int { return cmp.Compare(size(a), size(b)) })
	data, err = os.ReadFile(path)
	return strings.TrimSuffix(filepath.Base(path), ".jsonl"), data, err
}
