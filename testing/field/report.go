package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// tally counts the sessions of one agent, or of one version of it.
type tally struct {
	sessions, trimmed int
	of                [damaged + 1]int
}

// share is how many percent of the plausibly healthy sessions have a finding.
func (t *tally) share() float64 {
	plausible := t.of[healthy] + t.of[alarm]
	if plausible == 0 {
		return 0
	}
	return 100 * float64(t.of[alarm]) / float64(plausible)
}

// group is what findings have in common that are printed together.
type group struct {
	agent, rule, impact, version, through, kind string
	class                                       class
}

// report is all that is printed at the end.
type report struct {
	most    float64 // percent
	verbose bool
	files   int

	again, unclaimed int
	agents           map[string]*tally
	versions         map[[2]string]*tally // by agent and version
	groups           map[group][]string   // the places
	troubles         []string
}

// add takes a file into account.
func (r *report) add(s *sighting) {
	if r.agents == nil {
		r.agents, r.versions, r.groups = map[string]*tally{}, map[[2]string]*tally{}, map[group][]string{}
	}
	switch {
	case s.trouble != "":
		r.troubles = append(r.troubles, s.path+": "+s.trouble)
		return
	case s.again:
		r.again++
		return
	case s.unclaimed:
		r.unclaimed++
		return
	}
	agent := cmp.Or(s.by.agent, "unknown")
	count(r.agents, agent, s)
	count(r.versions, [2]string{agent, s.by.version}, s)
	for i := range s.findings {
		f := &s.findings[i]
		g := group{agent, f.Rule, f.Impact, s.by.version, s.by.through, s.by.kind, s.class}
		r.groups[g] = append(r.groups[g], fmt.Sprintf("%s:%d: %s (%s)", s.path, f.Line, f.Message, cmp.Or(s.reason, s.hash)))
	}
}

// count takes a session into account among those with the same key.
func count[K comparable](tallies map[K]*tally, key K, s *sighting) {
	t := tallies[key]
	if t == nil {
		t = &tally{}
		tallies[key] = t
	}
	t.sessions++
	t.of[s.class]++
	if s.trimmed {
		t.trimmed++
	}
}

var classNames = [...]string{healthy: "healthy", alarm: "TO LOOK AT", stopped: "stopped", damaged: "damaged"}

// print prints the report, and says whether something is not as it should be.
func (r *report) print(w io.Writer) (bad bool) {
	fmt.Fprintf(w, "%d files; %d again, %d no sessions\n", r.files, r.again, r.unclaimed)
	for _, agent := range slices.Sorted(maps.Keys(r.agents)) {
		t := r.agents[agent]
		fmt.Fprintf(w, "%s: %d sessions: %d healthy, %d to look at (%.2f %% of these), %d stopped, %d damaged; %d without their last newline\n",
			agent, t.sessions, t.of[healthy], t.of[alarm], t.share(), t.of[stopped], t.of[damaged], t.trimmed)
		bad = bad || t.share() > r.most
	}
	for _, key := range slices.SortedFunc(maps.Keys(r.versions), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		t := r.versions[key]
		fmt.Fprintf(w, "%-7s %-16s %4d sessions: %d healthy, %d to look at, %d stopped, %d damaged\n", key[0], key[1], t.sessions, t.of[healthy], t.of[alarm], t.of[stopped], t.of[damaged])
	}
	for _, g := range slices.SortedFunc(maps.Keys(r.groups), compare) {
		places := r.groups[g]
		fmt.Fprintf(w, "%-7s %-10s %-20s %-8s %-16s %-16s %-10s %4d in %d files\n", g.agent, classNames[g.class], g.rule, g.impact, g.version, g.through, g.kind, len(places), filesIn(places))
		if r.verbose || g.class == alarm && g.impact != "notes" {
			for _, p := range places {
				fmt.Fprintln(w, "    "+p)
			}
		}
	}
	for _, t := range r.troubles {
		fmt.Fprintln(w, "TROUBLE "+t)
	}
	return bad || len(r.troubles) > 0
}

// filesIn is how many files the places are in.
func filesIn(places []string) int {
	files := map[string]bool{}
	for _, p := range places {
		path, _, _ := strings.Cut(p, ".jsonl:")
		files[path] = true
	}
	return len(files)
}

func compare(a, b group) int {
	return cmp.Or(cmp.Compare(a.agent, b.agent), cmp.Compare(a.class, b.class), cmp.Compare(a.rule, b.rule), cmp.Compare(a.impact, b.impact),
		cmp.Compare(a.version, b.version), cmp.Compare(a.through, b.through), cmp.Compare(a.kind, b.kind))
}
