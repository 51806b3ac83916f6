package baseline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/hist-cli/hist/internal/publish"
)

// File is the findings that a baseline knows: the rule of each by its fingerprint.
type File map[string]string

// schema is the version of the file's form and of the fingerprints in it.
const schema = 1

type document struct {
	Schema   int  `json:"schema"`
	Findings File `json:"findings"`
}

// Read reads a baseline.
func Read(path string) (File, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading the baseline %s: there is no such file; --write-baseline makes it", path)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the baseline: %w", err)
	}
	var doc document
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("%s is no baseline: %w", path, err)
	}
	if doc.Schema != schema {
		return nil, fmt.Errorf("%s is a baseline of form %d and this hist reads form %d; write it anew with --write-baseline", path, doc.Schema, schema)
	}
	return doc.Findings, nil
}

// Write writes a baseline, sorted and one finding a line; one that is there is replaced.
func (f File) Write(ctx context.Context, path string) error {
	text, err := json.MarshalIndent(document{schema, f}, "", "  ")
	if err != nil {
		return err
	}
	return publish.Write(ctx, publish.Target{Path: path, Replace: true, Mode: 0o644}, func(w io.Writer) error {
		_, err := w.Write(append(text, '\n'))
		return err
	}, nil)
}
