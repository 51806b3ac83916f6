package beside

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/agent/codex/home"
	"github.com/hist-cli/hist/internal/agent/codex/rules"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/internal/timeline"
	"github.com/hist-cli/hist/lint"
)

// misled reports what the client's list of threads says wrongly of a session: when it resumes the thread, the client reads the file
// that is named there, and no other.
func (h *Home) misled(ctx context.Context, src *source.Source, res *lint.Result, name home.FileName) ([]lint.Finding, error) {
	index, err := h.index()
	listed := index[name.ThreadID]
	if err != nil || listed.Path == "" {
		return nil, err
	}
	stale := func(impact finding.Impact, format string, args ...any) []lint.Finding {
		f := ofFile(rules.IndexStale, fmt.Sprintf("the client's list of threads ("+filepath.Base(indexPath(h.dir))+") "+format, args...))
		f.Impact = impact
		return []lint.Finding{f}
	}
	unseen := func(format string, args ...any) []lint.Finding {
		found := stale(finding.Blocks, format+", or repair it: it finds the copy", args...)
		found[0].Fix, found[0].Rename = finding.Exact, name.ThreadID
		return found
	}
	info, err := os.Stat(listed.Path)
	switch {
	case !exists(listed.Path):
		return unseen("has this session at %s, where there is no file: the client does not find it; move it there", listed.Path), nil
	case err == nil && info.IsDir():
		return unseen("has this session at %s, which is a directory: the client can't read it; with the client closed, set rollout_path in the thread's row to this file", listed.Path), nil
	case h.outside(listed.Path):
		return stale(h.elsewhere(), "has this session at %s, in another home: the client reads that file, not this one", listed.Path), nil
	case !sameRollout(listed.Path, src.Real):
		if what := h.instead(ctx, src, name, listed.Path); what != "" {
			return unseen("names %s, %s; with the client closed, set rollout_path in the thread's row to this file", listed.Path, what), nil
		}
		return nil, nil
	case res.Summary.Header.Paginated() && listed.Mode == "legacy":
		return unseen("has this session as one in the old form (legacy), which it is not: clients from 0.169 on then do not read it (\"list_turns is not supported yet\"); with the client closed, set history_mode in the thread's row to paginated"), nil
	case res.Summary.Header.Paginated():
		files, err := h.files()
		if err != nil {
			return nil, err
		}
		if newer := files.newest[name.ThreadID]; newer.after(name) && prompted(ctx, newer.path) {
			return stale(finding.Loses, "names this file, and the client reads it, though a newer one of the same thread goes on: %s", newer.path), nil
		}
	}
	if dir := wrongDir(ctx, src, res, listed.CWD); dir != "" {
		return stale(finding.Notes, "has another directory for this session, %s, than the session itself, %s: resume it by its id", listed.CWD, dir), nil
	}
	return nil, nil
}

// sameRollout says whether a path of the list leads to a file, plain or compressed.
func sameRollout(listed, path string) bool {
	return samePath(strings.TrimSuffix(listed, ".zst"), path) || samePath(strings.TrimSuffix(listed, ".zst")+".zst", path)
}

// outside says whether a listed file lies in another home, as in one that was copied.
func (h *Home) outside(listed string) bool {
	above := codex.HomeAbove(listed)
	return above != "" && !samePath(above, h.dir)
}

// elsewhere is the impact of a list that leads into another home. In a home that nobody's client uses, as in a backup, it has none.
func (h *Home) elsewhere() finding.Impact {
	if own, err := home.Default(); err != nil || !samePath(own, h.dir) {
		return finding.Notes
	}
	return finding.Blocks
}

// instead says what the listed file is, if it is wrongly listed in place of a session; "" if it is rightly so: a revert begins a new
// file, and the old one is read no more.
func (h *Home) instead(ctx context.Context, src *source.Source, name home.FileName, listed string) string {
	other, ok := home.ParseName(filepath.Base(listed))
	if !ok {
		header, _ := headerOf(ctx, listed)
		other = home.FileName{ThreadID: strings.ToLower(header.ID)}
	}
	switch {
	case other.ThreadID != name.ThreadID:
		return "which is of another thread, in place of this file"
	case other.RolloutID == name.RolloutID && !goesOn(ctx, src, listed):
		return "another copy of this session: the client reads that one, not this"
	case (ofThread{name: name}).after(other) && prompted(ctx, src.Path):
		return "an older file of this thread: the client reads that one, not this"
	}
	return ""
}

// goesOn says whether a file begins with all that a session's file holds: the rule on duplicates tells of such a copy.
func goesOn(ctx context.Context, src *source.Source, listed string) bool {
	var readers [2]*bufio.Reader
	for i, path := range []string{src.Path, listed} {
		file, err := source.OpenIn(ctx, path)
		if err != nil {
			return false
		}
		defer file.Close()
		r, err := file.Reader(ctx)
		if err != nil {
			return false
		}
		defer r.Close()
		readers[i] = bufio.NewReader(r)
	}
	for {
		own, err := readers[0].ReadByte()
		if err != nil {
			return err == io.EOF
		}
		if other, err := readers[1].ReadByte(); err != nil || other != own {
			return false
		}
	}
}

// prompted says whether a session has a prompt: a client that was killed in a revert leaves a file without one, which counts for nothing.
func prompted(ctx context.Context, path string) bool {
	g, err := timeline.Look(ctx, path, timeline.LookOptions{})
	return err == nil && g.Turn.Prompt.Present
}

// wrongDir is the directory that a session worked in, if its row has one that can't be right: one of another system's form, one that is
// not there, or a file, and that the session does not name. "" if the row may be right.
func wrongDir(ctx context.Context, src *source.Source, res *lint.Result, listed string) string {
	began := res.Summary.Header.CWD
	if listed == "" || began == "" || listed == began {
		return ""
	}
	g, err := timeline.LookAt(ctx, src, timeline.LookOptions{})
	if err != nil || g.CWD == "" || g.CWD == listed {
		return ""
	}
	if ofWindows(listed) != ofWindows(began) && ofWindows(began) == ofWindows(g.CWD) {
		return g.CWD
	}
	is, err := os.Stat(listed)
	none := errors.Is(err, fs.ErrNotExist) || err == nil && !is.IsDir()
	if there, err := os.Stat(g.CWD); none && err == nil && there.IsDir() {
		return g.CWD
	}
	return ""
}

// ofWindows says whether a path has the form of Windows.
func ofWindows(path string) bool {
	return len(path) > 1 && path[1] == ':' || strings.HasPrefix(path, `\\`)
}
