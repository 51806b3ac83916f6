package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hist-cli/hist/testing/codex/clienttest"
)

// outcome is what became of one session.
type outcome struct {
	Plan     plan     `json:"plan"`
	Damage   string   `json:"damage,omitempty"`  // what was done to the file afterwards
	Further  string   `json:"further,omitempty"` // what else was
	Client   string   `json:"client"`            // the version that resumes
	Root     string   `json:"root"`              // where the home was, and must be again to be played
	Path     string   `json:"path"`
	ID       string   `json:"id"`
	Parent   string   `json:"parent,omitempty"` // the file of which it is a fork
	Log      []string `json:"log"`
	Findings []string `json:"findings"` // RULE impact
	Exit     int      `json:"exit"`     // of the repair
	Said     []told   `json:"said"`
	Before   string   `json:"before"` // "resumed", or why it is not
	After    string   `json:"after"`
	Swapped  string   `json:"swapped,omitempty"` // what the repair put out of order
	Case     string   `json:"case,omitempty"`
}

// told is an element and what became of it: how often it is sent.
type told struct {
	Element
	Stands bool `json:"stands"`
	Beside bool `json:"beside,omitempty"` // it stands outside the client's home only: in what the tools left, or in temporary files
	Before int  `json:"before"`
	After  int  `json:"after"`
}

// shares counts the elements that were said, that still stand somewhere, and that are sent.
func (o *outcome) shares() (said, stands, before, after int) {
	for _, e := range o.Said {
		said++
		stands += one(e.Stands || e.Before > 0 || e.After > 0)
		before += one(e.Before > 0)
		after += one(e.After > 0)
	}
	return said, stands, before, after
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// unnamed says whether something is missing and lint has found nothing.
func (o *outcome) unnamed() bool {
	said, _, before, _ := o.shares()
	return before < said && len(o.Findings) == 0
}

// worse lists what the repair has taken from the model, or told it twice. What a command printed may be told twice: by
// the call that began it, and by the one that waited for its end.
func (o *outcome) worse() (out []string) {
	for _, e := range o.Said {
		if e.Before > 0 && e.After == 0 {
			out = append(out, fmt.Sprintf("%s %s is sent no more", e.Kind, e.Token))
		}
		if e.After > max(e.Before, 1) && e.Kind != "output" {
			out = append(out, fmt.Sprintf("%s %s is sent %d times", e.Kind, e.Token, e.After))
		}
	}
	if o.Before == "resumed" && o.After != "resumed" {
		out = append(out, "it does not resume any more")
	}
	if o.Swapped != "" {
		out = append(out, o.Swapped)
	}
	return out
}

// bench is what measuring needs.
type bench struct {
	hist string // the program
	keep string // where cases are kept; empty: nowhere

	foreign []func(*spoiler) ([]byte, string) // how files are damaged, if not by spoil
}

// measure resumes a session alone, and again after its repair, each time in the home as it was.
func (b bench) measure(ctx context.Context, h *clienttest.Home, o *outcome, said []Element) error {
	saved := h.Codex + ".saved"
	defer os.RemoveAll(saved)
	if err := clone(saved, h.Codex); err != nil {
		return err
	}
	stands, err := standing(h.Codex, said)
	if err != nil {
		return err
	}
	beside, err := standing(h.Root, said, h.Codex, saved, h.Codex+".healthy", marksOf(h), stateOf(h))
	if err != nil {
		return err
	}
	for i, e := range said {
		o.Said = append(o.Said, told{Element: e, Stands: stands[i], Beside: beside[i] && !stands[i]})
	}
	lint, _, err := b.run(ctx, h, "lint", "--format", "json", o.Path)
	if err != nil {
		return err
	}
	o.Findings = findings(lint)
	first, second := b.sent(ctx, h, o, &o.Before), []sentItem(nil)
	if err := clone(h.Codex, saved); err != nil {
		return err
	}
	if err := os.RemoveAll(stateOf(h)); err != nil { // an earlier damage's run keeps what this one has taken
		return err
	}
	out, exit, err := b.run(ctx, h, repairOf(o)...)
	if err != nil {
		return err
	}
	o.Exit = exit
	o.Log = append(o.Log, strings.Split(strings.TrimSpace(out), "\n")...)
	second = b.sent(ctx, h, o, &o.After)
	for i, e := range said {
		o.Said[i].Before, o.Said[i].After = found(first, e), found(second, e)
	}
	if swapped(first, said) == "" {
		o.Swapped = swapped(second, said)
	}
	said1, stood, _, after := o.shares()
	if b.keep == "" || after >= min(said1, stood) && len(o.worse()) == 0 && !o.unnamed() {
		return nil
	}
	return b.keepCase(o, saved)
}

// repairOf is the repair that lint asks for.
func repairOf(o *outcome) []string {
	args := []string{"repair", "--in-place", o.Path}
	if slices.ContainsFunc(o.Findings, func(f string) bool { return strings.HasPrefix(f, "damaged-database ") }) {
		args = append(args, "--move-databases")
	}
	return args
}

// sent resumes the session and gives what the model is sent; nothing if the client refuses.
func (b bench) sent(ctx context.Context, h *clienttest.Home, o *outcome, how *string) []sentItem {
	h.Server.Reset()
	res := h.Resume(ctx, o.ID, clienttest.Prompt)
	switch {
	case len(res.Requests) == 0:
		*how = "refused: " + lastLine(res.Stderr)
		return nil
	case res.ExitCode != 0:
		*how = "failed: " + lastLine(res.Stderr)
	case res.Rollout != strings.TrimSuffix(o.Path, ".zst"):
		*how = "went on in another file: " + filepath.Base(res.Rollout)
	default:
		*how = "resumed"
	}
	return items(res.Requests[0].Body)
}

// swapped names the first prompt or answer that does not come in the order in which they were said. What tools do may
// come in another one: they run side by side, and go on behind the answer.
func swapped(input []sentItem, said []Element) string {
	last, before := -1, Element{}
	for _, e := range said {
		if e.Kind != "prompt" && e.Kind != "answer" {
			continue
		}
		i := slices.IndexFunc(input, func(it sentItem) bool { return it.is(e) })
		if i < 0 {
			continue
		}
		if i < last {
			return fmt.Sprintf("%s %s comes before %s %s", e.Kind, e.Token, before.Kind, before.Token)
		}
		if i > last {
			last, before = i, e
		}
	}
	return ""
}

// marksOf is the file in which commands leave their marks.
func marksOf(h *clienttest.Home) string { return filepath.Join(h.Work, "marks") }

// stateOf is where hist keeps its runs.
func stateOf(h *clienttest.Home) string { return filepath.Join(h.Root, "state") }

// run runs hist in a home.
func (b bench) run(ctx context.Context, h *clienttest.Home, args ...string) (out string, exit int, err error) {
	c := exec.CommandContext(ctx, b.hist, args...)
	c.Dir, c.Env = h.Work, append(h.Env(), "XDG_STATE_HOME="+stateOf(h))
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Run(); c.ProcessState == nil {
		return "", -1, err
	}
	if args[0] == "repair" {
		stdout.WriteString(stderr.String())
	}
	return stdout.String(), c.ProcessState.ExitCode(), ctx.Err()
}

// findings reads the rules and impacts out of lint's JSON.
func findings(out string) (names []string) {
	var v struct {
		Sessions []struct {
			Findings []struct{ Rule, Impact string }
		}
	}
	if json.Unmarshal([]byte(out), &v) != nil {
		return nil
	}
	for _, f := range v.Sessions {
		for _, x := range f.Findings {
			names = append(names, x.Rule+" "+x.Impact)
		}
	}
	return names
}

// clone makes one directory the copy of another.
func clone(to, from string) error {
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// keepCase keeps a home as it was before the repair, and what was measured.
func (b bench) keepCase(o *outcome, saved string) error {
	name := fmt.Sprintf("%s-%d", o.Client, o.Plan.Seed)
	if o.Damage != "" {
		name += "-" + strings.Fields(o.Damage)[0]
	}
	for n := 2; ; n++ {
		dir := filepath.Join(b.keep, name)
		if err := os.Mkdir(dir, 0o700); os.IsExist(err) {
			name = fmt.Sprintf("%s_%d", strings.SplitN(name, "_", 2)[0], n)
			continue
		} else if err != nil {
			return err
		}
		o.Case = dir
		break
	}
	if err := clone(filepath.Join(o.Case, "codex"), saved); err != nil {
		return err
	}
	text, err := json.MarshalIndent(o, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(o.Case, "outcome.json"), text, 0o600)
}
