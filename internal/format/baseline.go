package format

import (
	"encoding/json"
	"fmt"
	"io"
)

// Baseline is the findings that are known, by their fingerprints.
type Baseline map[string]Known

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

// baselineSchema is the version of the file's format and of its fingerprints.
const baselineSchema = 2

type baselineFile struct {
	Schema   int      `json:"schema"`
	Findings Baseline `json:"findings"`
}

// DecodeBaseline reads the text of a baseline; path is its name in errors.
func DecodeBaseline(text []byte, path string) (Baseline, error) {
	var doc baselineFile
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("%s is not a baseline: %w", path, err)
	}
	if doc.Schema == 0 {
		return nil, fmt.Errorf("%s is not a baseline: no version is named in it", path)
	}
	if doc.Schema != baselineSchema {
		return nil, fmt.Errorf("%s is a baseline of version %d and this hist reads version %d; write a new one with --write-baseline", path, doc.Schema, baselineSchema)
	}
	return doc.Findings, nil
}

// Encode writes a baseline, sorted and with one finding per line.
func (b Baseline) Encode(w io.Writer) error {
	text, err := json.MarshalIndent(baselineFile{baselineSchema, b}, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}
