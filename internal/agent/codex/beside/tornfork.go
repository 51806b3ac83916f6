package beside

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/agent/codex/home"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/source"
)

// maxTornHead is how much of a torn header is read, in bytes: its parent stands among its first members.
const maxTornHead = 4 << 10

// tornFork adds to what is known of a paginated session the place where it parted from its parent, if its own header is torn
// behind the parent's id. The header's number is that of the first record which the fork does not inherit; the byte is where
// the parent's record before that one ends. Without a list that has the session, l is nil, and all is from the torn header; it
// returns nil if that tells of no parent.
func tornFork(ctx context.Context, dir, thread string, l *check.Listed) *check.Listed {
	found, err := home.Find(ctx, dir, thread)
	if err != nil || l != nil && l.Mode != "paginated" {
		return l
	}
	for _, path := range found {
		base := strings.TrimSuffix(filepath.Base(path), ".zst")
		if l != nil && base != l.Base {
			continue
		}
		torn := tornHeader(ctx, path)
		h, number := codex.ReadHeader(torn), gjson.GetBytes(torn, "ordinal").Int()
		parent, offset := endOf(ctx, dir, h.ForkedFrom, number-1)
		if offset == 0 {
			return l
		}
		if l == nil {
			h.Mode = "paginated"
			l = &check.Listed{Info: h, Base: base, From: parent}
			l.Created, _ = time.Parse(time.RFC3339, codex.StampOf(torn))
		}
		l.ForkedFrom, l.BaseThread, l.BaseOrdinal, l.BaseOffset = h.ForkedFrom, h.ForkedFrom, number, offset
		return l
	}
	return l
}

// tornHeader is the beginning of a session's first line if that is what is left of its header; nil if it is none.
func tornHeader(ctx context.Context, path string) []byte {
	src, err := source.Open(path)
	if err != nil {
		return nil
	}
	defer src.Close()
	torn := firstLine(linesOf(ctx, src))
	if torn = torn[:min(len(torn), maxTornHead)]; !bytes.Contains(torn, []byte(`"session_meta"`)) {
		return nil
	}
	return torn
}

// endOf is where the record with a number ends in the file of a thread, and which that is, within the home; 0 if it is not
// there, or there is not one file.
func endOf(ctx context.Context, dir, thread string, ordinal int64) (file string, offset int64) {
	found, err := home.Find(ctx, dir, thread)
	if err != nil || len(found) != 1 || ordinal < 1 {
		return "", 0
	}
	if h, ok := headerOf(ctx, found[0]); !ok || h.ID != thread || !h.Paginated() {
		return "", 0
	}
	for line := range linesIn(ctx, found[0]) {
		if n := gjson.GetBytes(line.Raw, "ordinal"); n.Type == gjson.Number && n.Int() == ordinal && line.Terminated && jsonl.Valid(line.Raw) {
			return within(dir, found[0]), line.Offset + int64(len(line.Raw)) + 1
		}
	}
	return "", 0
}
