package home

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/walk"
)

// Claude Desktop keeps a file of its own for each session that it shows, under an id that begins so; the file names the transcript.
const tilePrefix = "local_"

// tileSlack is by how much the times of a tile and those of its transcript may differ.
const tileSlack = 2 * time.Minute

// byTile returns the session that a file of Claude Desktop shows. If it names none any more, or one that is not there, the error says
// which session fits by its directory and its times. Nothing is written into the app's files: it keeps them open.
func byTile(home, name string) (id string, err error) {
	path := tileFile(name)
	if path == "" {
		return "", nil
	}
	raw, err := ReadSmall(path)
	if err != nil {
		return "", fmt.Errorf("%s is a session of Claude Desktop, whose file can't be read: %w", name, err)
	}
	if !jsonl.Valid(raw) {
		return "", fmt.Errorf("%s is a session of Claude Desktop, whose file %s is damaged: the app does not show it, but what was said is in a file of its own below %s, with which claude --resume goes on", name, path, filepath.Join(home, projects))
	}
	tile := gjson.ParseBytes(raw)
	if id := strings.ToLower(tile.Get("cliSessionId").String()); format.IsID(id) {
		if found, err := find(context.Background(), home, id); err == nil && len(found) > 0 {
			return id, nil
		}
	}
	text := fmt.Sprintf("%s is a session of Claude Desktop (%s) that no longer leads to its transcript", name, path)
	switch fits := transcriptsOf(home, tile); len(fits) {
	case 0:
		return "", fmt.Errorf("%s; none below %s fits its directory and times", text, filepath.Join(home, projects))
	case 1:
		return "", fmt.Errorf("%s; by its directory and times that is %s: claude --resume %s", text, fits[0], fits[0])
	default:
		return "", fmt.Errorf("%s; by its directory and times it may be one of these: %s", text, strings.Join(fits, ", "))
	}
}

// tileFile is where Claude Desktop keeps a session, "" if it has none with this id.
func tileFile(name string) string {
	if !strings.HasPrefix(name, tilePrefix) || !format.IsID(strings.TrimPrefix(name, tilePrefix)) {
		return ""
	}
	var dirs []string
	if dir, err := os.UserConfigDir(); err == nil {
		dirs = append(dirs, dir)
	}
	if dir, err := os.UserHomeDir(); err == nil {
		dirs = append(dirs, filepath.Join(dir, "Library", "Application Support"), filepath.Join(dir, ".config"))
	}
	for _, dir := range dirs {
		found, err := filepath.Glob(filepath.Join(walk.Literal(dir), "Claude", "claude-code-sessions", "*", "*", name+".json"))
		if err == nil && len(found) > 0 {
			return found[0]
		}
	}
	return ""
}

// transcriptsOf are the ids of the sessions in a tile's directory that began no earlier and ended when it did.
func transcriptsOf(home string, tile gjson.Result) (ids []string) {
	began, ended := time.UnixMilli(tile.Get("createdAt").Int()), time.UnixMilli(tile.Get("lastActivityAt").Int())
	cwds := []string{tile.Get("cwd").String(), tile.Get("originCwd").String()}
	for path := range inProjects(home) {
		id, isFile := strings.CutSuffix(filepath.Base(path), format.Extension)
		if !isFile || !format.IsID(id) {
			continue
		}
		cwd, first, last := lifeOf(path)
		if slices.Contains(cwds, cwd) && cwd != "" && !first.Before(began.Add(-tileSlack)) && near(last, ended) {
			ids = append(ids, id)
		}
	}
	return ids
}

func near(a, b time.Time) bool { return a.Sub(b).Abs() <= tileSlack }

// spanSize is how much of each end of a file is read for its times, in bytes.
const spanSize = 64 << 10

// lifeOf is a session's directory, and when its first and its last record were written, as far as its ends tell.
func lifeOf(path string) (cwd string, first, last time.Time) {
	f, err := disk.Open(path)
	if err != nil {
		return "", first, last
	}
	defer f.Close()
	head := make([]byte, spanSize)
	n, _ := f.ReadAt(head, 0)
	about := format.About(head[:n])
	info, err := f.Stat()
	if err != nil {
		return "", first, last
	}
	from := max(0, info.Size()-spanSize)
	tail, err := io.ReadAll(io.NewSectionReader(f, from, info.Size()-from))
	if err != nil {
		return "", first, last
	}
	for line := range bytes.Lines(tail) {
		if t, err := time.Parse(time.RFC3339, gjson.GetBytes(line, "timestamp").String()); err == nil {
			last = t
		}
	}
	return about.Info.CWD, about.Created, last
}
