package main

import (
	"bytes"
	"os"
	"testing"
)

// TestTables: what is committed is what the generator makes.
func TestTables(t *testing.T) {
	want, err := tables(".")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../internal/api/tables.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(bytes.ReplaceAll(got, []byte("\r\n"), []byte("\n")), want) {
		t.Error("internal/api/tables.go is not what its tables say: go run ./testing/api")
	}
}
