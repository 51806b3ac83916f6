package corpus

import (
	"bytes"
	"fmt"
	"io"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// perDay is how many sessions of a home are begun on one day.
const perDay = 20

// Home writes a home of sessions, each with a thread, a directory to work in and a day of its own. Their lengths follow an
// exponential distribution around o.Size. With claude it is one of Claude Code's, else of Codex's.
func Home(dir string, sessions int, o Options, claude bool) error {
	rng := rand.New(rand.NewSource(o.Seed))
	for i := range sessions {
		one := o
		one.Seed, one.Size = o.Seed+int64(i), int64(float64(o.Size)*rng.ExpFloat64())
		began := time.Date(2026, 11, 18, 9, 30, 0, 0, time.UTC).AddDate(0, 0, -i/perDay)
		id := fmt.Sprintf("01a1edfd-e191-74b0-9003-%012d", i)
		write, date, path := Write, "2026-11-18T", filepath.Join("sessions", began.Format("2006/01/02"), "rollout-"+began.Format("2006-01-02T15-04-05")+"-"+id+".jsonl")
		if claude {
			write, date, path = WriteClaude, "2026-11-21T", filepath.Join("projects", fmt.Sprintf("-home-dev-demo%d", i%perDay), id+".jsonl")
		}
		if err := writeAs(filepath.Join(dir, path), func(w io.Writer) error { return write(w, one) }, strings.NewReplacer(
			thread, id, records, fmt.Sprintf("9b6a3805-8315-4f97-%04x-", i), date, began.Format("2006-01-02T"), "/home/dev/demo", fmt.Sprintf("/home/dev/demo%d", i%perDay))); err != nil {
			return err
		}
	}
	return nil
}

// writeAs writes a session to a file, with other names in place of those that every session of the package has.
func writeAs(path string, write func(io.Writer) error, names *strings.Replacer) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(names.Replace(b.String())), 0o600)
}
