package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hist-cli/hist/internal/session"
)

// NoLinks are the Links of an agent whose records nothing ties together.
type NoLinks struct{}

// Steady is true.
func (NoLinks) Steady() bool { return true }

// Keep leaves the line.
func (NoLinks) Keep(line []byte) ([]byte, error) { return line, nil }

// Insert leaves the line.
func (NoLinks) Insert(line []byte) []byte { return line }

// Remove does nothing.
func (NoLinks) Remove([]byte) {}

// Leave does nothing.
func (NoLinks) Leave([]byte) {}

// Renumber does nothing.
func (NoLinks) Renumber() {}

// NoWords are Words that tell nothing: to embed, and to replace what an agent's records do say.
type NoWords struct{}

// Time is not known.
func (NoWords) Time(*session.Record) time.Time { return time.Time{} }

// Tool is not known.
func (NoWords) Tool(*session.Record) string { return "" }

// Asked is not known.
func (NoWords) Asked(*session.Record) string { return "" }

// Calls is false.
func (NoWords) Calls(*session.Record) bool { return false }

// Got is not known.
func (NoWords) Got(*session.Record) string { return "" }

// Outcome is not known.
func (NoWords) Outcome(*session.Record) session.Outcome { return session.Outcome{} }

// Message is not known.
func (NoWords) Message(*session.Record) (text string, images int) { return "", 0 }

// Place is not known.
func (NoWords) Place(*session.Record) (cwd, model string) { return "", "" }

// Ending is one without an error.
func (NoWords) Ending(*session.Record) session.Ending { return session.Ending{} }

// Class is session.Unknown.
func (NoWords) Class(_, _ string) session.Class { return session.Unknown }

// TurnsBack is 0.
func (NoWords) TurnsBack(*session.Record) int { return 0 }

// Script is false.
func (NoWords) Script(*session.Record) bool { return false }

// Within is none.
func (NoWords) Within(*session.Record) (tool, asked string, ok bool) { return "", "", false }

// Era leaves nothing unsaid.
func (NoWords) Era(string) Era { return Era{} }

// TurnMark is none.
func (NoWords) TurnMark() []byte { return nil }

// DefaultHome is the directory that a variable of the environment names, or else the one with a path below the user's home directory.
func DefaultHome(variable, below string) (string, error) {
	if dir := os.Getenv(variable); dir != "" {
		return filepath.Abs(dir)
	}
	user, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("looking for ~/%s: %w; set %s", below, err, variable)
	}
	return filepath.Join(user, filepath.FromSlash(below)), nil
}
