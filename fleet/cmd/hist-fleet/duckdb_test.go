package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/hist-cli/hist/fleet/fleettest"
)

// TestQueries runs the queries of docs/fleet.md in DuckDB, over the rows of a run.
func TestQueries(t *testing.T) {
	if os.Getenv("HIST_DUCKDB_DIR") == "" {
		t.Skip("HIST_DUCKDB_DIR does not name a directory with @duckdb/node-api")
	}
	page, err := os.ReadFile("../../../docs/fleet.md")
	if err != nil {
		t.Fatal(err)
	}
	queries := regexp.MustCompile("(?s)```sql\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	wants := []string{`{"client_version":"0.169.0","sessions":"3","damaged_percent":66.7}`, `"rule":"call-without-output","sessions":"2","findings":"2"}`}
	if len(queries) != len(wants) {
		t.Fatalf("%d queries on the page, %d are expected", len(queries), len(wants))
	}
	dir := t.TempDir()
	in := fleettest.Open(t, dir+"/in")
	fleettest.Put(t, in, "1.jsonl", fleettest.Damaged(1))
	fleettest.Put(t, in, "2.jsonl", fleettest.Damaged(2))
	fleettest.Put(t, in, "3.jsonl", fleettest.Healthy(3))
	call(t, "lint", dir+"/in", "-o", dir+"/out", "--min-age", "0s").want(t, exitFindings)
	for i, query := range queries {
		sql := strings.ReplaceAll(query[1], "OUTPUT", dir+"/out")
		out, err := exec.Command("node", "../../servertest/query.mjs", sql).CombinedOutput()
		if err != nil || !strings.Contains(string(out), wants[i]) {
			t.Errorf("query %d (%v) printed\n%s", i+1, err, out)
		}
	}
}
