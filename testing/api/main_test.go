package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestTables: what is committed is what the generator makes.
func TestTables(t *testing.T) {
	for _, table := range list {
		want, err := table.source(".")
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("..", "..", "internal", "api", table.made())
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(bytes.ReplaceAll(got, []byte("\r\n"), []byte("\n")), want) {
			t.Errorf("%s is not what its table says: go run ./testing/api", path)
		}
	}
}
