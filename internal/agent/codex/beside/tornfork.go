package beside

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"

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
// the parent's record before that one ends.
func tornFork(ctx context.Context, dir string, l *check.Listed) {
	found, err := home.Find(ctx, dir, l.ID)
	if err != nil || l.Mode != "paginated" {
		return
	}
	for _, path := range found {
		if strings.TrimSuffix(filepath.Base(path), ".zst") != l.Base {
			continue
		}
		src, err := source.Open(path)
		if err != nil {
			return
		}
		defer src.Close()
		torn := firstLine(ctx, src)
		torn = torn[:min(len(torn), maxTornHead)]
		if !bytes.Contains(torn, []byte(`"session_meta"`)) {
			return
		}
		h, number := codex.ReadHeader(torn), gjson.GetBytes(torn, "ordinal").Int()
		if offset := endOf(ctx, dir, h.ForkedFrom, number-1); offset > 0 {
			l.ForkedFrom, l.BaseThread, l.BaseOrdinal, l.BaseOffset = h.ForkedFrom, h.ForkedFrom, number, offset
		}
		return
	}
}

// endOf is where the record with a number ends in the file of a thread; 0 if it is not there, or there is not one file.
func endOf(ctx context.Context, dir, thread string, ordinal int64) int64 {
	found, err := home.Find(ctx, dir, thread)
	if err != nil || len(found) != 1 || ordinal < 1 {
		return 0
	}
	if h, ok := headerOf(ctx, found[0]); !ok || h.ID != thread || !h.Paginated() {
		return 0
	}
	src, err := source.Open(found[0])
	if err != nil {
		return 0
	}
	defer src.Close()
	in, err := src.Reader(ctx)
	if err != nil {
		return 0
	}
	defer in.Close()
	r := jsonl.NewReader(in)
	for {
		line, err := r.Next()
		if err != nil || !line.Terminated || ctx.Err() != nil {
			return 0
		}
		if n := gjson.GetBytes(line.Raw, "ordinal"); n.Type == gjson.Number && n.Int() == ordinal && jsonl.Valid(line.Raw) {
			return line.Offset + int64(len(line.Raw)) + 1
		}
	}
}
