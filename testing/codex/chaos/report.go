package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hist-cli/hist/testing/codex/clienttest"
)

// shares are four counts that belong together.
type shares struct{ sessions, said, stands, before, after int }

func (s *shares) add(o *outcome) {
	said, stands, before, after := o.shares()
	s.sessions++
	s.said, s.stands, s.before, s.after = s.said+said, s.stands+stands, s.before+before, s.after+after
}

func (s *shares) count(e told) {
	s.said++
	s.stands += one(e.Stands || e.Before > 0 || e.After > 0)
	s.before += one(e.Before > 0)
	s.after += one(e.After > 0)
}

func (s *shares) String() string {
	p := func(n int) float64 { return 100 * float64(n) / float64(max(1, s.said)) }
	return fmt.Sprintf("%4d sessions, %5d said: alone %5.1f %%, after repair %5.1f %%, stands %5.1f %%", s.sessions, s.said, p(s.before), p(s.after), p(s.stands))
}

// summary adds up what became of all sessions.
type summary struct {
	all    shares
	by     map[string]*shares        // by client, by damage, by kind of element
	gone   map[string]map[string]int // what stands nowhere: by what happened in its turn, or to the session, and by its kind
	bad    []*outcome                // fall short of what stands, are worse, or have no name
	failed int
}

func newSummary() *summary {
	return &summary{by: map[string]*shares{}, gone: map[string]map[string]int{}}
}

func (s *summary) group(name string) *shares {
	if s.by[name] == nil {
		s.by[name] = &shares{}
	}
	return s.by[name]
}

func (s *summary) add(o *outcome) {
	if o.Damage == "none" {
		s.group("healthy").add(o)
		if len(o.worse()) > 0 || len(o.Findings) > 0 {
			s.bad = append(s.bad, o)
		}
		return
	}
	s.all.add(o)
	mode := "client " + o.Client
	if o.Plan.Code {
		mode += " code mode"
	}
	s.group(mode).add(o)
	if o.Damage != "" {
		s.group("damage " + strings.Fields(o.Damage)[0]).add(o)
		s.group("and " + cmp.Or(o.Further, "nothing else")).add(o)
		if o.Plan.Fork {
			s.group("fork").add(o)
		}
	}
	for _, e := range o.Said {
		name := strings.TrimSpace(e.Kind + " " + e.Tool)
		s.group("kind " + name).count(e)
		happened := "damage"
		if o.Damage == "" && e.Turn < len(o.Plan.Faults) {
			happened = "fault " + o.Plan.Faults[e.Turn].Kind
			s.group(happened).count(e)
		}
		if !e.Stands && e.Before+e.After == 0 {
			if s.gone[happened] == nil {
				s.gone[happened] = map[string]int{}
			}
			if e.Beside {
				name += " (beside the home)"
			}
			s.gone[happened][name]++
		}
	}
	_, stands, _, after := o.shares()
	if after < stands || len(o.worse()) > 0 || o.unnamed() {
		s.bad = append(s.bad, o)
	}
}

// good says whether the model is sent no less after the repairs than without them, over all sessions, of which at most a
// tenth could not be measured: where a kill falls depends on the machine's speed, so no seed makes a session twice the same.
func (s *summary) good() bool {
	return s.all.after >= s.all.before && 10*s.failed <= s.failed+s.all.sessions
}

// strict says whether also every session was measured, none is worse than before, and all damage is named that anything
// in the home still tells of. Lines that are gone from a session without ordinals leave nothing behind.
func (s *summary) strict() bool {
	for _, o := range s.bad {
		_, stands, before, _ := o.shares()
		if len(o.worse()) > 0 || o.unnamed() && stands > before {
			return false
		}
	}
	return s.failed == 0 && s.good()
}

func (s *summary) print(w io.Writer) {
	worse, unnamed, short := 0, 0, 0
	for _, o := range s.bad {
		_, stands, _, after := o.shares()
		worse += one(len(o.worse()) > 0)
		unnamed += one(o.unnamed())
		short += one(after < stands)
	}
	fmt.Fprintf(w, "%s\n%d fall short of what stands, %d are worse than before, %d unnamed, %d not measured\n", s.all.String(), short, worse, unnamed, s.failed)
	var names []string
	for name := range s.by {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(w, "  %-32s %s\n", name, s.by[name])
	}
	s.printGone(w)
	slices.SortFunc(s.bad, func(a, b *outcome) int { return b.gap() - a.gap() })
	for i, o := range s.bad {
		if i == mostShown {
			fmt.Fprintf(w, "\n… and %d more\n", len(s.bad)-i)
			break
		}
		o.print(w)
	}
}

// printGone tells what stands nowhere.
func (s *summary) printGone(w io.Writer) {
	for _, happened := range slices.Sorted(maps.Keys(s.gone)) {
		of, all := s.gone[happened], 0
		var kinds []string
		for _, kind := range slices.Sorted(maps.Keys(of)) {
			kinds, all = append(kinds, fmt.Sprintf("%d %s", of[kind], kind)), all+of[kind]
		}
		fmt.Fprintf(w, "  stands nowhere, %-16s %4d: %s\n", happened, all, strings.Join(kinds, ", "))
	}
}

// mostShown is how many sessions are told one by one, the worst first.
const mostShown = 40

func (o *outcome) gap() int {
	_, stands, _, after := o.shares()
	return stands - after + 100*len(o.worse())
}

// print tells one session in a few lines.
func (o *outcome) print(w io.Writer) {
	said, stands, before, after := o.shares()
	fmt.Fprintf(w, "\n%s seed %d: %d said, %d stand, %d sent alone, %d after; repair exit %d; %s; %s\n", o.Client, o.Plan.Seed, said, stands, before, after, o.Exit, o.Damage, o.Case)
	if o.Before != "resumed" || o.After != "resumed" {
		fmt.Fprintf(w, "  before: %s\n  after: %s\n", o.Before, o.After)
	}
	if o.unnamed() {
		fmt.Fprintln(w, "  no finding names it")
	}
	for _, line := range o.worse() {
		fmt.Fprintln(w, "  WORSE:", line)
	}
	for _, e := range o.Said {
		if e.After == 0 && (e.Stands || e.Before > 0) {
			fmt.Fprintf(w, "  missing, and stands: turn %d %s %s %s\n", e.Turn, e.Kind, e.Tool, e.Token)
		}
	}
	slices.Sort(o.Findings)
	fmt.Fprintf(w, "  findings: %s\n", strings.Join(slices.Compact(slices.Clone(o.Findings)), ", "))
}

// replay measures a kept case again, at the place where it was.
func (b bench) replay(ctx context.Context, dir string) (*outcome, error) {
	text, err := os.ReadFile(filepath.Join(dir, "outcome.json"))
	if err != nil {
		return nil, err
	}
	var old outcome
	if err := json.Unmarshal(text, &old); err != nil {
		return nil, err
	}
	bin, err := clienttest.Find(old.Client)
	if err != nil {
		return nil, err
	}
	h, err := clienttest.NewHome(filepath.Dir(old.Root), bin)
	if err != nil {
		return nil, err
	}
	defer h.Close()
	config, err := os.ReadFile(filepath.Join(h.Codex, "config.toml"))
	if err != nil {
		return nil, err
	}
	fresh := h.Root
	if err := os.Rename(fresh, old.Root); err != nil {
		return nil, fmt.Errorf("the place of the case is taken: %w", err)
	}
	h.Root, h.Codex, h.Work = old.Root, filepath.Join(old.Root, "codex"), filepath.Join(old.Root, "demo")
	if err := clone(h.Codex, filepath.Join(dir, "codex")); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(h.Codex, "config.toml"), config, 0o600); err != nil {
		return nil, err
	}
	h.Config = append(h.Config, (&player{plan: old.Plan}).model(bin.Version))
	out := outcome{Plan: old.Plan, Damage: old.Damage, Client: old.Client, Root: old.Root, Path: old.Path, ID: old.ID}
	var said []Element
	for _, e := range old.Said {
		said = append(said, e.Element)
	}
	return &out, (bench{hist: b.hist}).measure(ctx, h, &out, said)
}
