package repair_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math/rand"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/internal/surgery"
	"github.com/hist-cli/hist/internal/testkit"
	"github.com/hist-cli/hist/lint"
	"github.com/hist-cli/hist/repair"
)

// invented makes a secret of each of twelve kinds. They are put together here, so that no scanner takes this file for a leak.
func invented(r *rand.Rand) map[string]string {
	chars := func(n int, of string) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = of[r.Intn(len(of))]
		}
		return string(b)
	}
	const alnum, upper, hex = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", "0123456789abcdef"
	var aws []byte // one that repeats few characters is a placeholder to the rules
	for _, i := range r.Perm(len(upper))[:16] {
		aws = append(aws, upper[i])
	}
	return map[string]string{
		"aws":       "AK" + "IA" + string(aws),
		"github":    "gh" + "p_" + chars(36, alnum),
		"gitlab":    "gl" + "pat-" + chars(20, alnum),
		"slack":     "xo" + "xb-" + chars(12, "123456789") + "-" + chars(12, "123456789") + "-" + chars(24, alnum),
		"stripe":    "sk" + "_live_" + chars(30, alnum),
		"google":    "AI" + "za" + chars(35, alnum),
		"npm":       "np" + "m_" + chars(36, "abcdefghijklmnopqrstuvwxyz0123456789"),
		"openai":    "sk" + "-" + chars(20, alnum) + "T3Blbk" + "FJ" + chars(20, alnum),
		"anthropic": "sk" + "-ant-" + "api03-" + chars(93, alnum) + "AA",
		"key":       "-----BEGIN " + "RSA PRIVATE KEY-----\n" + chars(64, alnum) + "\n" + chars(64, alnum) + "\n-----END " + "RSA PRIVATE KEY-----",
		"jwt":       "ey" + "J" + chars(30, alnum) + ".ey" + "J" + chars(40, alnum) + "." + chars(43, alnum),
		"password":  chars(31, alnum) + "7", // letters alone are no password to the rules
	}
}

// plant puts a secret into texts of a session, each behind words that a person would write. It returns the new text and in how many
// places the secret then is.
func plant(t *testing.T, text []byte, name, secret string, r *rand.Rand) (out []byte, places int) {
	for line := range bytes.Lines(text) {
		raw := bytes.TrimRight(line, "\n")
		type place struct{ from, to int }
		var list []place
		surgery.Walk(raw, func(v *surgery.Value) bool {
			key := v.Key()
			// Words of people, models and tools; not of the formats themselves.
			if v.Type == gjson.String && (key == "text" || key == "output" || key == "arguments" || key == "content" || key == "stdout" || key == "command") && len(v.Path) > 1 {
				list = append(list, place{v.Start, v.End})
			}
			return true
		})
		if len(list) == 0 || places >= 20 {
			out = append(out, line...)
			continue
		}
		at := list[r.Intn(len(list))]
		words := gjson.ParseBytes(raw[at.from:at.to]).String()
		if strings.HasPrefix(words, "<") || strings.HasPrefix(words, "{") && !gjson.Valid(words) {
			out = append(out, line...) // the client's own forms
			continue
		}
		if strings.HasPrefix(words, "{") { // JSON in JSON
			inner, err := json.Marshal("export API_TOKEN=" + secret)
			if err != nil {
				t.Fatal(err)
			}
			words = strings.TrimSuffix(words, "}") + `,"planted":` + string(inner) + "}"
		} else {
			words += " and the api_key = \"" + secret + "\" then"
		}
		out = append(append(append(out, raw[:at.from]...), surgery.Quote(words)...), line[at.to:]...)
		places++
	}
	return out, places
}

// Of twelve kinds of secrets in up to twenty places of each healthy session, none is left, and no session is broken.
func TestPlantedSecrets(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	finder, err := surgery.NewFinder(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	op := &repair.Operation{Name: "redact", Plan: func(s *surgery.Session) (*surgery.Plan, error) {
		r, err := surgery.Redact(s, all.Surgeon(s.Agent), surgery.RedactOptions{Finder: finder, Salt: []byte("a test's"), DropEncrypted: true})
		if err != nil {
			return nil, err
		}
		return r.Plan, nil
	}}
	paths, _ := filepath.Glob("../fixtures/*/healthy/*/session.jsonl")
	r := rand.New(rand.NewSource(1))
	done, most := map[string]int{}, map[string]int{}
	for _, path := range testkit.Sample(paths, 8, 0) {
		was, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all := invented(r)
		text, planted := was, map[string]int{}
		for name, secret := range all {
			text, planted[name] = plant(t, text, name, secret, r)
		}
		file := filepath.Join(t.TempDir(), "session.jsonl")
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		to := file + ".out.jsonl"
		_, err = repair.Do(context.Background(), repair.Job{Path: file, Operation: op, Mode: repair.ToFile, Output: to})
		if errors.Is(err, repair.ErrUnsound) {
			continue // what was planted has damaged it: events no longer say what the messages do
		}
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		is, err := os.ReadFile(to)
		if err != nil {
			t.Fatal(err)
		}
		for name, secret := range all {
			if planted[name] == 0 {
				continue
			}
			done[name]++
			most[name] = max(most[name], planted[name])
			if surgery.HeldBy(is, []string{secret}) > 0 {
				t.Errorf("%s: a secret is left: %s", path, name)
			}
		}
		for line := range bytes.Lines(is) {
			if !gjson.ValidBytes(line) {
				t.Errorf("%s: a line is no JSON any more", path)
			}
		}
	}
	for name := range invented(r) {
		if done[name] < testkit.Times(30, 8) {
			t.Errorf("only %d sessions had a secret of the kind %s", done[name], name)
		}
		if *testkit.Long && most[name] < 20 {
			t.Errorf("no session had a secret of the kind %s in 20 places, but at most in %d", name, most[name])
		}
	}
}

// Nothing in a healthy session is taken for a secret: ids, signatures, hashes and encrypted contents are not.
func TestNoSecrets(t *testing.T) {
	finder, err := surgery.NewFinder(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	paths, _ := filepath.Glob("../fixtures/*/healthy/*/session.jsonl")
	for _, path := range paths {
		src, err := source.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		s, err := repair.ReadSession(context.Background(), src, lint.Options{}, "", false)
		src.Close()
		if err != nil {
			t.Fatal(err)
		}
		r, err := surgery.Redact(s, all.Surgeon(s.Agent), surgery.RedactOptions{Finder: finder})
		if err != nil || len(r.Hits) > 0 || !r.Empty() {
			t.Errorf("%s: %d secrets in %d places, %v", path, len(r.Secrets), len(r.Hits), err)
		}
	}
}

// TestClippedData: what words in front of it make look like a key is none if it is the beginning of data that stands elsewhere whole.
func TestClippedData(t *testing.T) {
	finder, err := surgery.NewFinder(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var data string
	for r := rand.New(rand.NewSource(7)); len(data) < 400; {
		data += invented(r)["password"]
	}
	clipped := "the page says api_key = \"" + data[:40] + "\" here"
	for want, texts := range map[int][]string{0: {clipped, "whole: " + data}, 1: {clipped, "whole: " + data[60:]}} {
		s := &surgery.Session{}
		for _, text := range texts {
			s.Records = append(s.Records, session.Record{Raw: append(append([]byte(`{"message":{"content":`), surgery.Quote(text)...), `}}`...)})
		}
		r, err := surgery.Redact(s, all.Surgeon(all.Named("claude")), surgery.RedactOptions{Finder: finder})
		if err != nil || len(r.Secrets) != want {
			t.Errorf("%d secrets, want %d: %v", len(r.Secrets), want, err)
		}
	}
}

// TestSecretsOfTools: what a call is given under a name that is an id's elsewhere is text like any other; a secret in an unreadable line goes with
// that, and one that stays in a key or an id is told.
func TestSecretsOfTools(t *testing.T) {
	finder, err := surgery.NewFinder(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	secret := invented(rand.New(rand.NewSource(3)))["github"]
	redact := func(kind session.Kind, raw string) (*surgery.Redaction, string) {
		s := &surgery.Session{Records: []session.Record{
			{Pos: session.Pos{Line: 1}, Raw: []byte(`{"message":{"content":"the token is ` + secret + `"}}`)},
			{Pos: session.Pos{Line: 2}, Kind: kind, Raw: []byte(raw)},
		}}
		r, err := surgery.Redact(s, all.Surgeon(all.Named("claude")), surgery.RedactOptions{Finder: finder})
		if err != nil {
			t.Fatal(err)
		}
		if r.Tags[secret] == "" {
			t.Fatalf("%s: it is no secret", raw)
		}
		what := ""
		for _, g := range r.Groups {
			for _, e := range g.Edits {
				if e.At.Line == 2 {
					what += g.Name
				}
			}
		}
		return r, what
	}
	for _, key := range []string{"session_id", "id", "version", "uuid"} {
		if _, what := redact(session.Call, `{"message":{"content":[{"type":"tool_use","id":"toolu_1","name":"mcp__x__y","input":{"`+key+`":"`+secret+`"}}]}}`); what != "secret" {
			t.Errorf("an input's %s: %q", key, what)
		}
	}
	if _, what := redact(session.Unreadable, `{"message":{"content":"export TOKEN=`+secret); what != "unreadable" {
		t.Errorf("an unreadable line: %q", what)
	}
	for _, raw := range []string{`{"message":{"content":[{"type":"tool_use","id":"toolu_1","name":"x","input":{"` + secret + `":1}}]}}`, `{"type":"` + secret + `"}`} {
		if r, what := redact(session.Call, raw); what != "" || !strings.Contains(strings.Join(r.Notes, ""), "stands in 1 place where nothing is altered") {
			t.Errorf("%s: %q, %q", raw, what, r.Notes)
		}
	}
}

// TestRedactSealedSummary: a summary that only the provider can read makes way for a note, of today's clients with what they note about it, and the
// rest is sent as it was.
func TestRedactSealedSummary(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	paths, err := filepath.Glob("../fixtures/codex/0.171.0/compact/*.jsonl")
	if err != nil || len(paths) != 1 {
		t.Fatal(paths, err)
	}
	text, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, kept := range []string{"replacement_history", "replacement_history_metadata"} {
		last := gjson.GetBytes(text, `..#(type=="compacted").payload.`+kept+"|@reverse|0").Raw
		by := last + `,{"type":"compaction","encrypted_content":"gAAAAABsealed"}`
		if kept != "replacement_history" {
			by = last + "," + last
		}
		if text = bytes.Replace(text, []byte(last+"]"), []byte(by+"]"), 1); !bytes.Contains(text, []byte(by)) {
			t.Fatal("it was not put in")
		}
	}
	path := filepath.Join(t.TempDir(), filepath.Base(paths[0]))
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	finder, err := surgery.NewFinder([]*regexp.Regexp{regexp.MustCompile("Counted")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, drop := range []bool{false, true} {
		op := &repair.Operation{Name: "redact", Plan: func(s *surgery.Session) (*surgery.Plan, error) {
			r, err := surgery.Redact(s, all.Surgeon(s.Agent), surgery.RedactOptions{Finder: finder, Salt: []byte("a test's"), DropEncrypted: drop})
			if err != nil {
				return nil, err
			}
			return r.Plan, nil
		}}
		rep, err := repair.Do(context.Background(), repair.Job{Path: path, Operation: op, Mode: repair.InPlace})
		switch {
		case !drop && !errors.Is(err, surgery.ErrRefused):
			t.Errorf("it was not refused: %v", err)
		case drop && err != nil:
			t.Error(err)
		case drop && (rep.Operation.Sent.Items != rep.Operation.Sent.Before || rep.Operation.Sent.Differs == 0):
			t.Errorf("%+v", rep.Operation.Sent)
		}
	}
	if is, err := os.ReadFile(path); err != nil || bytes.Contains(is, []byte("gAAAAABsealed")) || !bytes.Contains(is, []byte("that was taken out here")) {
		t.Errorf("no note stands in its place (%v)", err)
	}
}
