package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hist-cli/hist/fleet/fleettest"
	"github.com/hist-cli/hist/fleet/plan"
	"github.com/hist-cli/hist/fleet/sink"
	"github.com/hist-cli/hist/fleet/work"
	"github.com/hist-cli/hist/lint"
)

const fixtures = "../../../fixtures"

func TestMain(m *testing.M) {
	if os.Getenv("HIST_FLEET_TEST_CHILD") != "" { // the program itself, for tests that end it
		code := run(os.Args, os.Stdout, os.Stderr, os.Getenv)
		if os.Getenv("HIST_FLEET_TEST_PEAK") != "" {
			status, _ := os.ReadFile("/proc/self/status") // its reader sees to it
			os.Stdout.Write(status)                       //nolint:errcheck // likewise
		}
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// answer is what a call of the program gave.
type answer struct {
	code     int
	out, err string
}

func call(t testing.TB, args ...string) answer {
	t.Helper()
	var out, err bytes.Buffer
	code := run(append([]string{"hist-fleet"}, args...), &out, &err, os.Getenv)
	return answer{code, out.String(), err.String()}
}

// want ends the test if the exit code is another.
func (a answer) want(t testing.TB, code int) answer {
	t.Helper()
	if a.code != code {
		t.Fatalf("exit code %d, want %d\n%s%s", a.code, code, a.out, a.err)
	}
	return a
}

func planned(t testing.TB, args ...string) plan.Run {
	t.Helper()
	a := call(t, append([]string{"plan", "--min-age", "0s"}, args...)...).want(t, exitOK)
	r, ok := plan.ParseRun(strings.TrimSpace(a.out))
	if !ok {
		t.Fatalf("plan printed no run: %q", a.out)
	}
	return r
}

// rowsOf reads all rows of a run, findings by key, without what differs from run to run.
func rowsOf(t testing.TB, r plan.Run) (sessions []work.SessionRow, findings map[string][]work.FindingRow) {
	t.Helper()
	ctx, out := context.Background(), fleettest.Open(t, r.Out)
	p, err := plan.Load(ctx, out, r)
	if err != nil {
		t.Fatal(err)
	}
	findings = map[string][]work.FindingRow{}
	for i := range p.Parts {
		err := sink.Sessions(ctx, out, r.SessionsKey(i, len(p.Parts)), func(row work.SessionRow) error {
			row.RunID, row.LintMillis = "", 0
			sessions = append(sessions, row)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		err = sink.Findings(ctx, out, r.FindingsKey(i, len(p.Parts)), func(row work.FindingRow) error {
			row.RunID = ""
			findings[row.Key] = append(findings[row.Key], row)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.SortFunc(sessions, func(a, b work.SessionRow) int { return strings.Compare(a.Key, b.Key) })
	return sessions, findings
}

// TestRowsAreWhatLintFinds: every session of the fixtures gives, through a store, the findings that lint gives for the file.
func TestRowsAreWhatLintFinds(t *testing.T) {
	fleettest.Both(t, func(t *testing.T, address string) {
		n := fleettest.Fill(t, fleettest.Open(t, address+"/in"), fixtures)
		r := planned(t, address+"/in", "-o", address+"/out")
		call(t, "lint", r.String()).want(t, exitOK)
		sessions, findings := rowsOf(t, r)
		if len(sessions) != n {
			t.Errorf("%d rows for %d sessions", len(sessions), n)
		}
		for _, row := range sessions {
			text, err := os.ReadFile(fixtures + "/" + row.Key)
			if err != nil {
				t.Fatal(err)
			}
			if row.Outcome == work.Unclaimed {
				if _, err := lint.Session(context.Background(), bytes.NewReader(text), lint.Options{Name: work.NameOf(row.Key)}); !errors.Is(err, lint.ErrUnclaimed) {
					t.Errorf("%s: no agent claims it, but lint says %v", row.Key, err)
				}
				continue
			}
			if row.Outcome != work.Linted {
				if !strings.HasSuffix(row.Key, ".zst") || row.Error == "" {
					t.Errorf("%s: %s: %s", row.Key, row.Outcome, row.Error)
				}
				continue
			}
			if strings.HasSuffix(row.Key, ".zst") {
				continue // their text is not the file's bytes
			}
			want, err := lint.Session(context.Background(), bytes.NewReader(text), lint.Options{Name: work.NameOf(row.Key)})
			if err != nil {
				t.Fatal(err)
			}
			got := findings[row.Key]
			same := slices.EqualFunc(got, want.Findings, func(g work.FindingRow, w lint.Finding) bool {
				return g.Rule == w.Rule.Name && g.Impact == w.Impact.String() && g.Fix == w.Fix.String() && g.Line == w.Pos.Line && g.Offset == w.Offset && g.Message == w.Message
			})
			if !same || row.Items != want.Summary.Items || row.ItemsSeen != want.Summary.Seen || row.Records != want.Summary.Records {
				t.Errorf("%s: rows %+v %+v, lint finds %+v", row.Key, row, got, want.Findings)
			}
		}
	})
}

// TestShardsAreTheWhole: four shards, in any order and one of them twice, leave the rows of one that does all.
func TestShardsAreTheWhole(t *testing.T) {
	fleettest.Both(t, func(t *testing.T, address string) {
		fleettest.Fill(t, fleettest.Open(t, address+"/in"), fixtures+"/codex/rules")
		whole := planned(t, address+"/in", "-o", address+"/whole")
		call(t, "lint", whole.String()).want(t, exitOK)
		parted := planned(t, address+"/in", "-o", address+"/parted", "--shards", "4")
		a := call(t, "check", parted.String()).want(t, exitIO)
		if !strings.Contains(a.err, "0/4, 1/4, 2/4, 3/4") || !strings.HasSuffix(a.err, "hist-fleet lint "+parted.String()+" --shard 0/4\n") {
			t.Errorf("missing shards are not named, or no command follows: %s", a.err)
		}
		call(t, "lint", parted.String()).want(t, exitUsage) // it has four shards
		for _, s := range []string{"3/4", "0/4", "2/4", "0/4"} {
			call(t, "lint", parted.String(), "--shard", s).want(t, exitOK)
		}
		t.Setenv("JOB_COMPLETION_INDEX", "1")
		call(t, "check", parted.String()).want(t, exitIO)
		call(t, "lint", parted.String(), "--shard", "auto/4").want(t, exitOK)
		a, b := call(t, "check", whole.String()).want(t, exitFindings), call(t, "check", parted.String()).want(t, exitFindings)
		numbers, next, _ := strings.Cut(b.err, "\n")
		if !strings.HasPrefix(a.err, numbers+"\n") {
			t.Errorf("check of the whole says %s, of the shards %s", a.err, b.err)
		}
		if !strings.HasPrefix(next, "hist-fleet repair "+parted.String()+" --shard I/4 ") {
			t.Errorf("check does not say how to repair what is damaged: %s", b.err)
		}
		wantSessions, wantFindings := rowsOf(t, whole)
		sessions, findings := rowsOf(t, parted)
		if !slices.Equal(sessions, wantSessions) {
			t.Errorf("the shards' session rows are not those of the whole")
		}
		for key, want := range wantFindings {
			if !slices.Equal(findings[key], want) {
				t.Errorf("%s: findings %+v, of the whole %+v", key, findings[key], want)
			}
		}
	})
}

// TestWarmIsCold: unchanged objects are not read again, and their rows are the same as those of a run that read them.
func TestWarmIsCold(t *testing.T) {
	server := fleettest.NewServer(t)
	proxy := fleettest.NewProxy(t, server)
	in, out := server.Bucket+"/in", server.Bucket+"/out"
	fleettest.Fill(t, fleettest.Open(t, in), fixtures+"/codex/rules")
	cold := planned(t, in, "-o", out, "--shards", "2")
	call(t, "lint", cold.String(), "--shard", "0/2").want(t, exitOK)
	call(t, "lint", cold.String(), "--shard", "1/2").want(t, exitOK)
	fleettest.Put(t, fleettest.Open(t, in), "new.jsonl", fleettest.Damaged(1))
	changed := "bom/bad.jsonl"
	fleettest.Put(t, fleettest.Open(t, in), changed, fleettest.Healthy(2))
	aSecondLater(t)
	var warm plan.Run
	for _, tc := range []struct {
		shards []string
		reads  int64
	}{{[]string{"0/3", "1/3", "2/3"}, 2}, {[]string{"0/2", "1/2"}, 0}} { // the second takes over what the first took over
		aSecondLater(t)
		warm = planned(t, in, "-o", out, "--shards", tc.shards[0][2:])
		before := proxy.Gets.Load()
		for _, shard := range tc.shards {
			call(t, "lint", warm.String(), "--shard", shard).want(t, exitOK)
		}
		if reads := proxy.Gets.Load() - before; reads != tc.reads {
			t.Errorf("%d sessions were read, want %d", reads, tc.reads)
		}
	}
	fresh := planned(t, in, "-o", server.Bucket+"/fresh")
	call(t, "lint", fresh.String()).want(t, exitOK)
	wantSessions, wantFindings := rowsOf(t, fresh)
	sessions, findings := rowsOf(t, warm)
	for i := range sessions {
		if sessions[i].Outcome == work.Cached {
			sessions[i].Outcome = work.Linted
		}
	}
	if !slices.Equal(sessions, wantSessions) {
		t.Errorf("rows that were taken over are not those of a fresh run")
	}
	for key, want := range wantFindings {
		if !slices.Equal(findings[key], want) {
			t.Errorf("%s: findings %+v, fresh %+v", key, findings[key], want)
		}
	}
	// With other options no rows are reused.
	aSecondLater(t)
	other := planned(t, in, "-o", out, "--for-codex", "0.145")
	p, err := plan.Load(context.Background(), fleettest.Open(t, other.Out), other)
	if err != nil || p.Carried != 0 {
		t.Errorf("rows of other options were taken over: %+v %v", p, err)
	}
}

// TestUsage: what is wrong with a command line is said, with exit code 2.
func TestUsage(t *testing.T) {
	dir := t.TempDir()
	fleettest.Put(t, fleettest.Open(t, dir), "a.jsonl", fleettest.Damaged(1))
	r := planned(t, dir, "-o", t.TempDir())
	for _, args := range [][]string{
		{"plan"},
		{"plan", dir},
		{"plan", dir, "x", "-o", dir},
		{"plan", dir, "-o", dir, "--shards", "0"},
		{"plan", "ftp://x", "-o", dir},
		{"plan", dir, "-o", dir, "--owner", "("},
		{"plan", dir, "-o", dir, "--owner", "abc"},
		{"nothing"},
		{"lint", "--shards", "1", dir},
		{"lint", dir, "--shard", "0/1"},
		{"lint", r.String(), "--shard", "0/2"},
		{"lint", r.String(), "--owner", "(x)"},
		{"lint", dir, "--fail-on", "x"},
		{"lint", dir, "--workers", "0"},
		{"lint", r.String(), "--shard", "auto/1"},
		{"check", dir},
		{"check", r.String(), "--fail-on", "x"},
		{"repair", dir},
		{"repair", r.String()},
		{"repair", r.String(), "--to", dir, "--in-place"},
		{"repair", r.String(), "--in-place"},
		{"repair", r.String(), "--to", dir},
		{"undo", dir},
		{"undo", r.String()},
		{"undo", r.String(), "--workers", "0"},
	} {
		if a := call(t, args...); a.code != exitUsage || !strings.HasPrefix(a.err, "hist-fleet: ") || strings.Count(a.err, "\n") > 2 {
			t.Errorf("%q: exit code %d\n%s", args, a.code, a.err)
		}
	}
}

// TestFindingsArePrinted: a whole store is linted without anything being written.
func TestFindingsArePrinted(t *testing.T) {
	fleettest.Both(t, func(t *testing.T, address string) {
		s := fleettest.Open(t, address)
		fleettest.Put(t, s, "ann/rollout-1.jsonl", fleettest.Damaged(1))
		fleettest.Put(t, s, "bob/rollout-2.jsonl", fleettest.Healthy(2))
		a := call(t, "lint", address, "--min-age", "0s").want(t, exitFindings)
		if !strings.HasPrefix(a.out, "ann/rollout-1.jsonl:5: ") || !strings.Contains(a.out, "[call-without-output]") || strings.Contains(a.out, "bob") {
			t.Errorf("printed %s", a.out)
		}
		if !strings.Contains(a.err, "2 sessions, 1 damaged") {
			t.Errorf("summed up as %s", a.err)
		}
		if keys := fleettest.Keys(t, s, ""); len(keys) != 2 {
			t.Errorf("something was written: %q", keys)
		}
		if young := call(t, "lint", address).want(t, exitIO); !strings.Contains(young.err, "2 too young") || !strings.Contains(young.err, "--min-age") {
			t.Errorf("what is younger than a minute is left out with %s", young.err)
		}
	})
}

// TestKeyWithALineBreak: what a key holds can't pass for a line of hist-fleet's own.
func TestKeyWithALineBreak(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a\nb.jsonl:1: forged.jsonl"), fleettest.Damaged(1), 0o600); err != nil {
		t.Skip(err)
	}
	a := call(t, "lint", dir, "--min-age", "0s").want(t, exitFindings)
	if !strings.HasPrefix(a.out, "a\ufffdb.jsonl:1: forged.jsonl:5: ") || strings.Count(a.out, "\n") != 1 {
		t.Errorf("printed %q", a.out)
	}
}

// TestCountIsPrinted: a finding that stands for many lines says so.
func TestCountIsPrinted(t *testing.T) {
	a := call(t, "lint", filepath.Join(fixtures, "codex/rules/crlf"), "--min-age", "0s", "--fail-on", "notes").want(t, exitFindings)
	if !strings.Contains(a.out, "(11 times, this is the first) [crlf]\n") {
		t.Errorf("printed %s", a.out)
	}
}

// TestNameThatNoPlanHolds: a session whose name is not UTF-8 can't be read, and is never passed over as changed.
func TestNameThatNoPlanHolds(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a\xff.jsonl"), fleettest.Damaged(1), 0o600); err != nil {
		t.Skip(err)
	}
	call(t, "lint", dir, "--min-age", "0s").want(t, exitIO)
	for _, command := range []string{"plan", "lint"} {
		a := call(t, command, dir, "--min-age", "0s", "-o", t.TempDir()).want(t, exitIO)
		if !strings.Contains(a.err, `"a\xff.jsonl" is not UTF-8`) || a.out != "" {
			t.Errorf("%s: %q, %q", command, a.out, a.err)
		}
	}
}

// aSecondLater lets a run have a name of its own.
func aSecondLater(t testing.TB) {
	t.Helper()
	before := plan.NewRunID(time.Now())
	for plan.NewRunID(time.Now()) == before {
		time.Sleep(20 * time.Millisecond)
	}
}

// TestRepo: a session says which repository it was about, and no password goes with that.
func TestRepo(t *testing.T) {
	dir := t.TempDir()
	in := fleettest.Open(t, dir+"/in")
	want := map[string]string{"none.jsonl": ""}
	fleettest.Put(t, in, "none.jsonl", fleettest.Healthy(0))
	for i, repo := range [][2]string{
		{"git@example.org:team/app.git", "git@example.org:team/app.git"},
		{"https://user:secret@example.org/team/app.git", "https://example.org/team/app.git"},
		{"https://example.org/a@b", "https://example.org/a@b"},
		{"ssh://git@example.org", "ssh://example.org/"},
	} {
		key := fmt.Sprintf("%d.jsonl", i)
		git := fmt.Sprintf(`"cwd":"/home/dev","git":{"repository_url":%q},`, repo[0])
		fleettest.Put(t, in, key, bytes.Replace(fleettest.Healthy(i), []byte(`"cwd":"/home/dev",`), []byte(git), 1))
		want[key] = repo[1]
	}
	r := planned(t, dir+"/in", "-o", dir+"/out")
	call(t, "lint", r.String()).want(t, exitOK)
	rows, _ := rowsOf(t, r)
	if len(rows) != len(want) {
		t.Errorf("%d rows", len(rows))
	}
	for _, row := range rows {
		if row.Repo != want[row.Key] || row.Findings > 0 {
			t.Errorf("%s: repository %q, want %q, %d findings", row.Key, row.Repo, want[row.Key], row.Findings)
		}
	}
}

// TestBadOptions: an invalid version or API is an error before anything is read, whether a run is planned or not.
func TestBadOptions(t *testing.T) {
	in := t.TempDir()
	for _, c := range [][]string{
		{"--for-codex", "banana"}, {"--for-claude", "2"}, {"--provider", "nobody"}, {"--owner", "("}, {"--owner", "^x"},
	} {
		for _, args := range [][]string{append([]string{"lint", in}, c...), append([]string{"plan", in, "-o", t.TempDir()}, c...)} {
			if a := call(t, args...).want(t, exitUsage); !strings.Contains(a.err, c[0]) {
				t.Errorf("%q: %s", args, a.err)
			}
		}
	}
}

// TestForClaude: what a client of another version does with a damage is another impact.
func TestForClaude(t *testing.T) {
	in := filepath.Join(fixtures, "claude", "rules", "empty-text")
	worst := func(version string) map[string]string {
		run := planned(t, in, "-o", t.TempDir(), "--for-claude", version)
		call(t, "lint", run.String()).want(t, exitOK)
		rows, _ := rowsOf(t, run)
		by := map[string]string{}
		for _, row := range rows {
			by[row.Key] = row.Worst
		}
		return by
	}
	if old, now := worst("2.1.2"), worst("2.1.330"); len(old) == 0 || maps.Equal(old, now) {
		t.Errorf("by 2.1.2 %v, by 2.1.330 %v", old, now)
	}
}
