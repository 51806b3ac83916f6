package clienttest

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hist-cli/hist/lint"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const fixtures = "../../../fixtures/claude"

// recording is the session of a scenario, its times laid as in life, and its id.
func recording(t testing.TB, version, scenario string) (Session, string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(fixtures, version, scenario, "*.jsonl"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no recording %s/%s: %v", version, scenario, err)
	}
	data, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	return Retime(Lines(data)), strings.TrimSuffix(filepath.Base(paths[0]), ".jsonl")
}

// harmless are damages that no client minds and that leave no trace which a sound session could not have, too.
var harmless = []string{
	"role_of_an_answer", // clients read the record's type
	"no_bookkeeping", "lost_last_prompt", "progress_at_end", "progress_between", "session_id_all_other", "timestamp_missing", "sidechain_one",
	"timestamp_bad_one", "unknown_record", "no_tool_use_result", "empty_object_line", "synthetic_tail", "deep_3000", "lost_last",
	"lost_attachment", "messages_only", "empty", "last_prompt_dangling",
	"thinking_empty_first", "thinking_empty_last", "thinking_last", // some models keep the text back; at the end the client drops it
	"boundary_no_logical_parent", "boundary_dangling_logical", "boundary_has_parent", "image_no_tool_use_result",
}

// untold are damages that sessions of versions before 2.1.330 have no hashes to tell by, nor the last answer of any.
var untold = []string{"signature_changed_first", "thinking_changed_first", "signature_changed_last", "thinking_changed_last"}

// TestDamagesAreNamedAndMended: every damage is named, a mended session has nothing left to mend, and mending it again
// changes nothing.
func TestDamagesAreNamedAndMended(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, for long")
	}
	for _, version := range []string{"1.0.17", "1.0.128", "2.0.29", "2.1.2", "2.1.100", "2.1.215", "2.1.330", "2.1.332"} {
		s, _ := recording(t, version, "resumed")
		if found := lintText(t, s.Bytes(), lint.Options{}); len(found) > 0 {
			t.Errorf("%s: findings in a healthy session: %v", version, found)
		}
		for _, v := range victims(t, version, s) {
			d, s := v.damages[0], v.session
			data := d.Do(s)
			if data == nil {
				continue
			}
			t.Run(version+"/"+d.Name, func(t *testing.T) {
				found := lintText(t, data, lint.Options{})
				if strings.HasPrefix(d.Name, "branch_") && slices.Contains([]string{"1.0.17", "1.0.128", "2.0.29"}, version) {
					t.Skip("the client notes neither rewinds nor that a prompt came in: this may be one")
				}
				if version == "1.0.17" && d.Name == "cut_after_first_result" {
					t.Skip("the client answers the last call first, and leaves no word of an error either: this may be a sound end")
				}
				if slices.Contains(untold, d.Name) && (!slices.Contains([]string{"2.1.330", Newest}, version) || strings.HasSuffix(d.Name, "last")) {
					t.Skip("a signature tells nothing to anybody but the API")
				}
				if d.Name == "blank_text" && strings.HasPrefix(version, "2.1.") && version != "2.1.2" {
					t.Skip("models write such texts in front of a call, and clients from 2.1.32 on send none that is all of a record")
				}
				if len(found) == 0 && !slices.Contains(harmless, d.Name) && !bytes.Equal(data, s.Bytes()) {
					t.Error("the damage is not named")
				}
				fixed, _ := mend(t, data, lint.Options{})
				left := lintText(t, fixed, lint.Options{})
				for i := range left {
					if allowed(&left[i]) {
						t.Errorf("left: %s on %v: %s", left[i].Rule.Name, left[i].Pos, left[i].Message)
					}
				}
				if again, _ := mend(t, fixed, lint.Options{}); !bytes.Equal(again, fixed) {
					t.Error("a second repair changes the session")
				}
			})
		}
	}
}

// victims are the damages of a version's sessions, each with the one that it is done to.
func victims(t *testing.T, version string, ordinary Session) (list []victim) {
	t.Helper()
	for _, d := range Damages() {
		list = append(list, victim{session: ordinary, damages: []Damage{d}})
	}
	for _, k := range Kinds() {
		if found, err := filepath.Glob(filepath.Join(fixtures, version, k.Scenario, "*.jsonl")); err == nil && len(found) > 0 {
			s, _ := recording(t, version, k.Scenario)
			for _, d := range k.Damages {
				list = append(list, victim{session: s, damages: []Damage{d}})
			}
		}
	}
	return list
}

// sound are scenarios in which nothing went wrong.
var sound = []string{
	"clean", "resumed", "resumed2", "continued", "fork", "compact", "compact_auto", "thinking", "redacted", "image", "todo", "tool_error", "subagent",
	"subagent_bg", "background", "bigout", "checkpoint", "interactive_rewind", "http_400", "http_429", "http_500", "http_529",
	"parallel_five", "subagents_parallel", "stream_json", "prompt_too_long", "denied", "hooks", "stop_hook", "slash",
}

// TestRecordings lints what real clients wrote: sound sessions yield nothing, not even a note, the others what their
// golden file lists.
func TestRecordings(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(fixtures, "[0-9]*", "*", "*.jsonl"))
	if err != nil || len(paths) < 100 {
		t.Fatalf("%d recordings: %v", len(paths), err)
	}
	var all strings.Builder
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		scenario := filepath.Base(filepath.Dir(path))
		name := filepath.Base(filepath.Dir(filepath.Dir(path))) + "/" + scenario
		for _, f := range lintText(t, data, lint.Options{}) {
			if slices.Contains(sound, scenario) {
				t.Errorf("%s: a finding in a sound session: %s on %v: %s", name, f.Rule.Name, f.Pos, f.Message)
			}
			fmt.Fprintf(&all, "%s %v: %s %s %s\n", name, f.Pos, f.Rule.Name, f.Impact, f.Fix)
		}
	}
	golden := filepath.Join(fixtures, "findings.out")
	if *update {
		if err := os.WriteFile(golden, []byte(all.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || string(want) != all.String() {
		t.Errorf("%s is another now (%v):\n%s", golden, err, all.String())
	}
}

// TestVersions: what a damage does hangs on the client that will read the session.
func TestVersions(t *testing.T) {
	s, _ := recording(t, "2.1.330", "resumed")
	damages := map[string]func(Session) []byte{}
	for _, d := range Damages() {
		damages[d.Name] = d.Do
	}
	for _, c := range []struct {
		damage, version, rule string
		want                  lint.Impact
	}{
		{"dangling_parent", "", "broken-parent", lint.Notes},
		{"dangling_parent", "2.1.2", "broken-parent", lint.Loses},
		{"empty_text", "", "empty-text", lint.Notes},
		{"empty_text", "2.1.2", "empty-text", lint.Rejects},
		{"content_null", "2.1.215", "bad-message", lint.Blocks},
		{"content_null", "2.1.330", "bad-message", lint.Loses},
		{"parent_cycle", "1.0.128", "parent-cycle", lint.Blocks},
		{"output_twice", "2.1.2", "duplicate-result", lint.Rejects},
		{"output_twice", "", "duplicate-result", lint.Notes},
		{"timestamp_missing", "2.1.2", "wrong-leaf", lint.Loses},
		{"progress_between", "2.1.2", "unknown-link", lint.Loses},
	} {
		found := lintText(t, damages[c.damage](s), lint.Options{For: map[string]string{"claude": c.version}})
		i := slices.IndexFunc(found, func(f lint.Finding) bool { return f.Rule.Name == c.rule })
		if i < 0 || found[i].Impact != c.want {
			t.Errorf("%s for %q: want %s %s, found %v", c.damage, c.version, c.rule, c.want, found)
		}
	}
}
