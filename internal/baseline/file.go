package baseline

import (
	"encoding/json"
	"fmt"
	"io"
)

// File is the findings that a baseline knows, by their fingerprints.
type File map[string]Known

// Known is a finding as it was when the baseline was written.
type Known struct {
	Rule   string
	Impact string
	Count  int64 // how many occurrences it stands for; 0 if for one
}

// MarshalText writes the rule, the impact and, for a finding that stands for many, the count.
func (k Known) MarshalText() ([]byte, error) {
	text := k.Rule + " " + k.Impact
	if k.Count > 0 {
		text += fmt.Sprintf(" %d", k.Count)
	}
	return []byte(text), nil
}

// UnmarshalText reads what MarshalText writes.
func (k *Known) UnmarshalText(text []byte) error {
	if n, _ := fmt.Sscanf(string(text), "%s %s %d", &k.Rule, &k.Impact, &k.Count); n < 2 {
		return fmt.Errorf("%q is not a rule and an impact", text)
	}
	return nil
}

// schema is the version of the file's format and of its fingerprints.
const schema = 2

type document struct {
	Schema   int  `json:"schema"`
	Findings File `json:"findings"`
}

// Decode reads the text of a baseline; path is its name in errors.
func Decode(text []byte, path string) (File, error) {
	var doc document
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("%s is not a baseline: %w", path, err)
	}
	if doc.Schema == 0 {
		return nil, fmt.Errorf("%s is not a baseline: no version is named in it", path)
	}
	if doc.Schema != schema {
		return nil, fmt.Errorf("%s is a baseline of version %d and this hist reads version %d; write a new one with --write-baseline", path, doc.Schema, schema)
	}
	return doc.Findings, nil
}

// Encode writes a baseline, sorted and with one finding per line.
func (f File) Encode(w io.Writer) error {
	text, err := json.MarshalIndent(document{schema, f}, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}
