package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/testing/codex/clienttest"
)

// further does to a damaged session what seldom comes alone: of 42 damages the first seven stay as they are, and those after them get
// a second damage, a damaged database, a turn of the client with the damaged file, another file of the same session, or a clock that
// was set back while it was written.
func further(ctx context.Context, rng *rand.Rand, h *clienttest.Home, o *outcome, healthy []byte, i int) error {
	what := ""
	switch i / damages % 6 {
	case 1:
		text, err := os.ReadFile(o.Path)
		if err != nil {
			return err
		}
		if bytes.Count(text, []byte("\n")) < 3 {
			break // nothing is left to be damaged
		}
		text, what = spoil(rng, text, rng.IntN(damages))
		if err := os.WriteFile(o.Path, text, 0o600); err != nil {
			return err
		}
	case 2:
		var err error
		if what, err = spoilDatabase(rng, h.Codex); err != nil {
			return err
		}
	case 3:
		what = "gone on with"
		h.Server.Reset()
		h.Resume(ctx, o.ID, "Please go on") // what the client makes of it is measured
	case 4:
		var err error
		if what, err = addTwin(rng, o, healthy); err != nil {
			return err
		}
	case 5:
		text, err := os.ReadFile(o.Path)
		if err != nil {
			return err
		}
		if text, what = setBack(rng, text); what == "" {
			break
		}
		if err := os.WriteFile(o.Path, text, 0o600); err != nil {
			return err
		}
	}
	if what != "" {
		o.Damage += "; " + what
		o.Further = strings.Fields(what)[0]
	}
	return nil
}

// stamp is the time that a line begins with.
var stamp = regexp.MustCompile(`^\{"timestamp":"([^"]{20,30})"`)

// setBack gives the lines behind one of a session the times of a clock that was set back by an hour.
func setBack(rng *rand.Rand, text []byte) (_ []byte, what string) {
	lines := bytes.SplitAfter(text, []byte("\n"))
	if len(lines) < 3 {
		return text, ""
	}
	from := 1 + rng.IntN(len(lines)-1)
	for i, line := range lines[from:] {
		m := stamp.FindSubmatchIndex(line)
		if m == nil {
			continue
		}
		at, err := time.Parse(time.RFC3339, string(line[m[2]:m[3]]))
		if err == nil {
			lines[from+i] = slices.Concat(line[:m[2]], []byte(at.Add(-time.Hour).UTC().Format(codex.TimeForm)), line[m[3]:])
		}
	}
	return bytes.Join(lines, nil), fmt.Sprintf("clock set back from line %d on", from+1)
}

// spoilDatabase damages what the client keeps beside its sessions, as a power cut or somebody who clears up does.
func spoilDatabase(rng *rand.Rand, codex string) (string, error) {
	all, err := filepath.Glob(filepath.Join(codex, "*.sqlite"))
	if err != nil || len(all) == 0 {
		return "", err
	}
	path := all[rng.IntN(len(all))]
	name := filepath.Base(path)
	switch rng.IntN(6) {
	case 4, 5:
		return loseRows(rng, path)
	case 0:
		for _, suffix := range []string{"-wal", "-shm"} {
			if err := os.RemoveAll(path + suffix); err != nil {
				return "", err
			}
		}
		return "database " + name + " without its log", nil
	case 1:
		for _, suffix := range []string{"", "-wal", "-shm"} {
			if err := os.RemoveAll(path + suffix); err != nil {
				return "", err
			}
		}
		return "database " + name + " gone", nil
	}
	text, err := os.ReadFile(path)
	if err != nil || len(text) == 0 {
		return "", err
	}
	at := rng.IntN(len(text))
	if rng.IntN(2) == 0 {
		return fmt.Sprintf("database %s cut at %d of %d", name, at, len(text)), os.WriteFile(path, text[:at], 0o600)
	}
	at &^= 4095
	clear(text[at:min(at+4096, len(text))])
	return fmt.Sprintf("database %s with zeros from %d", name, at), os.WriteFile(path, text, 0o600)
}

// fork has a session forked by a front end, and one turn of the fork played; the fork is the session from then on.
func (p *player) fork(ctx context.Context, h *clienttest.Home) error {
	app, err := h.App(ctx)
	if err != nil {
		return err
	}
	defer app.Close()
	if _, _, err := app.Thread(ctx, "thread/resume", p.id); err != nil {
		return err
	}
	child, path, err := app.Thread(ctx, "thread/fork", p.id)
	if err != nil {
		return err
	}
	if p.Seed/2%2 == 0 { // half of the parents go on
		if err := app.Turn(ctx, p.id, "Please go on in the parent"); err != nil {
			return err
		}
	}
	if err := app.Turn(ctx, child, "Please go on in the fork"); err != nil {
		return err
	}
	if _, err := os.Stat(path); err != nil {
		return err
	}
	p.parent, p.id, p.path = p.path, child, path
	return nil
}
