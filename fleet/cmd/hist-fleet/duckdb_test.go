package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hist-cli/hist/fleet/fleettest"
)

// queriesOf are the queries of a page.
func queriesOf(t *testing.T, page string) []string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/" + page)
	if err != nil {
		t.Fatal(err)
	}
	var queries []string
	for _, m := range regexp.MustCompile("(?s)```sql\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		queries = append(queries, m[1])
	}
	return queries
}

// answers runs queries in DuckDB; each must print what is wanted of it.
func answers(t *testing.T, queries, wants []string) {
	t.Helper()
	if len(queries) != len(wants) {
		t.Fatalf("%d queries on the page, %d are expected", len(queries), len(wants))
	}
	for i, sql := range queries {
		out, err := exec.Command("node", "../../servertest/query.mjs", sql).CombinedOutput()
		if err != nil || !strings.Contains(string(out), wants[i]) {
			t.Errorf("query %d (%v) printed\n%s", i+1, err, out)
		}
	}
}

func needDuckDB(t *testing.T) {
	t.Helper()
	if os.Getenv("HIST_DUCKDB_DIR") == "" {
		t.Skip("HIST_DUCKDB_DIR does not name a directory with @duckdb/node-api")
	}
}

// TestQueries runs the queries of docs/fleet.md in DuckDB, over the rows of a run.
func TestQueries(t *testing.T) {
	needDuckDB(t)
	dir := t.TempDir()
	in := fleettest.Open(t, dir+"/in")
	fleettest.Put(t, in, "1.jsonl", fleettest.Damaged(1))
	fleettest.Put(t, in, "2.jsonl", fleettest.Damaged(2))
	fleettest.Put(t, in, "3.jsonl", fleettest.Healthy(3))
	call(t, "lint", dir+"/in", "-o", dir+"/out", "--min-age", "0s").want(t, exitFindings)
	queries := queriesOf(t, "fleet.md")
	for i := range queries {
		queries[i] = strings.ReplaceAll(queries[i], "OUTPUT", dir+"/out")
	}
	answers(t, queries, []string{`{"client_version":"0.169.0","sessions":"3","damaged_percent":66.7}`, `"rule":"call-without-output","sessions":"2","findings":"2"}`})
}

// TestQueriesOfParts runs the queries of docs/output.md in DuckDB, over what two parts of hist lint have written.
func TestQueriesOfParts(t *testing.T) {
	needDuckDB(t)
	dir := t.TempDir()
	hist := filepath.Join(dir, "hist")
	build := exec.Command("go", "build", "-o", hist, ".")
	build.Dir = "../../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	in := fleettest.Open(t, dir+"/in")
	name := "rollout-2026-11-18T09-30-00-01a1fa85-bfc3-74d1-9684-%012d.jsonl"
	fleettest.Put(t, in, fmt.Sprintf(name, 1), fleettest.Damaged(1))
	fleettest.Put(t, in, fmt.Sprintf(name, 2), fleettest.Damaged(2))
	fleettest.Put(t, in, fmt.Sprintf(name, 3), fleettest.Healthy(3))
	for part := range 2 {
		lint := exec.Command(hist, "lint", "--no-cache", "--shard", fmt.Sprintf("%d/2", part), "-f", fmt.Sprintf("sessions=%[1]s/sessions-%[2]d.jsonl,jsonl=%[1]s/findings-%[2]d.jsonl", dir, part), dir+"/in")
		var ended *exec.ExitError
		if out, err := lint.CombinedOutput(); err != nil && !errors.As(err, &ended) || ended != nil && ended.ExitCode() != exitFindings {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	queries := queriesOf(t, "output.md")
	for i := range queries {
		queries[i] = strings.NewReplacer("'sessions-", "'"+dir+"/sessions-", "'findings-", "'"+dir+"/findings-").Replace(queries[i])
	}
	answers(t, queries, []string{`{"client_version":"0.169.0","sessions":"3","damaged_percent":66.7}`, `{"month":"2026-11","rule":"call-without-output","sessions":"2","findings":"2"}`})
}
