package beside

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
)

// inherited says what is damaged in the part of its ancestors with which a fork's history begins, "" if nothing is. The client
// sends that part as the fork's own, and the ancestor can't be repaired in place under the fork.
func (h *Home) inherited(ctx context.Context, src *source.Source, of session.Info, find func(string) string) (string, error) {
	seen := map[string]bool{}
	for of.BaseThread != "" && !seen[of.BaseThread] {
		seen[of.BaseThread] = true
		path := find(of.BaseThread)
		if path == "" {
			return "", nil // that is a finding of its own
		}
		res, err := h.linted(ctx, path)
		if err != nil || res == nil {
			return "", err
		}
		damage := 0
		var first *lint.Finding
		for i := range res.Findings {
			f := &res.Findings[i]
			if f.Impact < lint.Loses || f.Pos.Line == 0 || f.Offset >= of.BaseOffset {
				continue
			}
			if f.Rule == check.CallWithoutOutput && holdsCall(ctx, src, f.IDs) {
				continue // the fork's first records answer the call
			}
			if damage++; first == nil {
				first = f
			}
		}
		if first != nil {
			return fmt.Sprintf("what this fork inherits of %s is damaged in %d places, the first on its line %d: %s", path, damage, first.Pos.Line, first.Message), nil
		}
		of = res.Summary.Header
	}
	return "", nil
}

// linted is what lint finds in an ancestor, computed once for all of its forks; nil if it can't be read, which is a finding of
// its own.
func (h *Home) linted(ctx context.Context, path string) (*lint.Result, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if res, ok := h.ancestors[path]; ok {
		return res, nil
	}
	src, err := source.Open(path)
	if err != nil {
		return nil, nil //nolint:nilerr // told of the ancestor itself
	}
	defer src.Close()
	res, err := lint.Source(ctx, src, lint.Options{Name: lint.NameOf(path, true), Agent: codex.Name})
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		res = nil
	}
	if h.ancestors == nil {
		h.ancestors = map[string]*lint.Result{}
	}
	h.ancestors[path] = res
	return res, nil
}

// holdsCall says whether a session names a call_id.
func holdsCall(ctx context.Context, src *source.Source, id string) bool {
	if strings.ContainsAny(id, `"\`) {
		return false
	}
	want := []byte(`"call_id":"` + id + `"`)
	for line := range linesOf(ctx, src) {
		if bytes.Contains(line.Raw, want) {
			return true
		}
	}
	return false
}
