// Package homes compares sessions with what their agents keep beside them. It stands apart from package all because
// it needs what lint found in a session.
package homes

import (
	"context"

	"github.com/hist-cli/hist/internal/agent/codex/beside"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
)

// Home is one agent's home. It only reads, and waits for nobody. Its methods may be called from several goroutines.
type Home interface {
	// Session lists what is wrong between one session of the home and its neighbours. res is what lint found in it.
	Session(ctx context.Context, src *source.Source, res *lint.Result) ([]lint.Finding, error)
	// Listed lists what is wrong between one session of the home and the home as a whole.
	Listed(src *source.Source) ([]lint.Finding, error)
	// Index is where the agent's list of threads lies, "" if it keeps none, and what is wrong with it that concerns no
	// session of the home.
	Index() (path string, found []lint.Finding, err error)
}

// Open returns the home at dir; what it needs of it is read when it is first asked for. Of a session that another agent
// than Codex wrote it says nothing: its name is none that Codex knows.
func Open(ctx context.Context, dir string) Home { return beside.Open(ctx, dir) }
