// Package work lints or repairs one session of a fleet: an object in, rows out.
//
// An object that can't be read, is gone or has changed gives a row that says so, never an error: one bad object must not
// fail the thousand others of its shard. Never here: which objects there are, where rows go, who runs what.
package work

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"runtime/debug"
	"strings"
	"time"

	"github.com/hist-cli/hist/fleet/store"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/internal/walk"
	"github.com/hist-cli/hist/lint"
)

// Options are the settings that findings and columns depend on; rows that were made with other options are not reused.
type Options struct {
	ForCodex  string `json:"for_codex,omitempty"`  // judge by this version of the client, "" is the newest
	ForClaude string `json:"for_claude,omitempty"` // the same for the other client, "" is the one that wrote the session, and the newest
	Provider  string `json:"provider,omitempty"`   // judge by this API, "" is the session's own
	Owner     string `json:"owner,omitempty"`      // a regular expression whose first group is an owner's name in a key
}

// Hash returns a short hash of the options.
func (o Options) Hash() string {
	text, err := json.Marshal(o)
	if err != nil {
		panic(err) // four strings can always be marshalled
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// Linter lints the objects of one store in one run.
type Linter struct {
	Store   store.Store
	RunID   string
	Version string // hist's
	options Options
	owner   *regexp.Regexp
}

var versionForm = regexp.MustCompile(`^[0-9]+\.[0-9]+(\.[0-9A-Za-z.-]+)?$`)

// NewLinter checks the options and returns a Linter.
func NewLinter(s store.Store, runID, version string, options Options) (*Linter, error) {
	l := &Linter{Store: s, RunID: runID, Version: version, options: options}
	for flag, v := range map[string]string{"codex": options.ForCodex, "claude": options.ForClaude} {
		if v != "" && !versionForm.MatchString(v) {
			return nil, fmt.Errorf("--for-%s is %q: want a version such as 0.153.4", flag, v)
		}
	}
	if err := lint.CheckProvider(options.Provider); err != nil {
		return nil, err
	}
	if options.Owner == "" {
		return l, nil
	}
	var err error
	if l.owner, err = regexp.Compile(options.Owner); err != nil {
		return nil, fmt.Errorf("--owner: %w", err)
	}
	if l.owner.NumSubexp() < 1 {
		return nil, fmt.Errorf("--owner %q: want a group in parentheses around the owner's name", options.Owner)
	}
	return l, nil
}

// IsSession says whether an object's key is that of a session file.
func IsSession(key string) bool {
	if strings.HasPrefix(key, Private) || strings.Contains(key, "/"+Private) {
		return false
	}
	return walk.IsSession(key)
}

// Private is the folder of a store in which hist-fleet keeps its own objects, mainly originals.
const Private = ".hist/"

// Lint lints one object. The only error is the context's: everything else is described in the row.
func (l *Linter) Lint(ctx context.Context, o store.Object) (res Result, err error) {
	begun := time.Now()
	res.Session = l.row(o)
	row := &res.Session
	defer func() {
		if p := recover(); p != nil {
			res.Findings = nil
			row.Outcome, row.Error = Unreadable, bug(p)
		}
		row.LintMillis = time.Since(begun).Milliseconds()
	}()
	found, err := l.read(ctx, o)
	if ctx.Err() != nil {
		return res, ctx.Err()
	}
	if err != nil {
		row.Outcome, row.Error = Unreadable, err.Error()
		switch {
		case errors.Is(err, store.ErrChanged), errors.Is(err, store.ErrGone):
			row.Outcome = Changed
		case errors.Is(err, lint.ErrUnclaimed):
			row.Outcome = Unclaimed
		}
		res.Transient = errors.Is(err, store.ErrUnavailable)
		return res, nil
	}
	l.fill(&res, found)
	return res, nil
}

// row returns what is known before the object is read.
func (l *Linter) row(o store.Object) SessionRow {
	row := SessionRow{
		RunID: l.RunID, Store: l.Store.URL(), Key: o.Key, ETag: o.ETag, StoredBytes: o.Size, Modified: o.Modified.UTC(), Outcome: Linted,
		HistVersion: l.Version, ConfigHash: l.options.Hash(),
	}
	if l.owner != nil {
		if m := l.owner.FindStringSubmatch(o.Key); m != nil {
			row.Owner = m[1]
		}
	}
	row.Started, _, _ = strings.Cut(NameOf(o.Key).Time, "T")
	return row
}

// NameOf reads the name of an object as that of a session file. A store is not an agent's home: no client looks for sessions
// in it, so a name that a client would not find is no damage.
func NameOf(key string) lint.Name { return lint.NameOf(path.Base(key), false) }

// LintOptions returns the options with which an object is linted.
func (l *Linter) LintOptions(key string) lint.Options {
	// One processor each, because objects are linted in parallel.
	return lint.Options{Name: NameOf(key), For: map[string]string{"codex": l.options.ForCodex, "claude": l.options.ForClaude}, Provider: l.options.Provider, Processors: 1}
}

// read lints the object while it comes from the store; nothing of it is stored.
func (l *Linter) read(ctx context.Context, o store.Object) (*lint.Result, error) {
	text, err := l.open(ctx, o)
	if err != nil {
		return nil, err
	}
	defer text.Close()
	opts := l.LintOptions(o.Key)
	opts.Reopen = func() (io.ReadCloser, error) { return l.open(ctx, o) }
	res, err := lint.Session(ctx, text, opts)
	if err != nil {
		return nil, err
	}
	return res, res.Summary.Partial
}

// open is an object's text, decompressed while it comes.
func (l *Linter) open(ctx context.Context, o store.Object) (io.ReadCloser, error) {
	body, err := l.Store.Get(ctx, o.Key, o.ETag)
	if err != nil {
		return nil, err
	}
	stream := source.Once(body)
	r, err := stream.Reader(ctx)
	if err != nil {
		return nil, errors.Join(err, stream.Close(), body.Close())
	}
	return &object{Reader: r, parts: []io.Closer{r, stream, body}}, nil
}

// object is the text of an object, and what is to be closed with it.
type object struct {
	io.Reader
	parts []io.Closer
}

// Close closes the object.
func (o *object) Close() (err error) {
	for _, p := range o.parts {
		err = errors.Join(err, p.Close())
	}
	return err
}

func (l *Linter) fill(res *Result, found *lint.Result) {
	row, sum := &res.Session, found.Summary
	row.Bytes, row.Records, row.Items, row.ItemsSeen = sum.Bytes, sum.Records, sum.Items, sum.Seen
	row.Agent, row.ClientVersion, row.ThreadID = sum.Agent, sum.Header.Version, sum.Header.ID
	row.Repo = repoOf(sum.Header.Repository)
	row.Findings = int64(len(found.Findings))
	worst := lint.Notes
	for _, f := range found.Findings {
		worst = max(worst, f.Impact)
		res.Findings = append(res.Findings, FindingRow{
			RunID: l.RunID, Key: row.Key, Rule: f.Rule.Name, Impact: f.Impact.String(), Fix: f.Fix.String(), Record: f.Record,
			Line: f.Pos.Line, Offset: f.Offset, Count: max(1, f.Count), Message: f.Message, ClientVersion: row.ClientVersion,
		})
	}
	if row.Findings > 0 {
		row.Worst = worst.String()
	}
}

// repoOf returns the URL of a repository without user name and password.
func repoOf(address string) string {
	if scheme, rest, ok := strings.Cut(address, "://"); ok {
		host, path, _ := strings.Cut(rest, "/")
		return scheme + "://" + host[strings.LastIndexByte(host, '@')+1:] + "/" + path
	}
	return address
}

// survived calls do and turns a panic into an error, so that one object can't end the whole shard.
func survived(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errors.New(bug(p))
		}
	}()
	return do()
}

// bug describes a panic and where it came from.
func bug(p any) string {
	return fmt.Sprintf("hist failed on it, which is a bug of hist's: %v %s", p, firstFrame(debug.Stack()))
}

// firstFrame names the function that a panic came from.
func firstFrame(stack []byte) string {
	for line := range strings.Lines(string(stack)) {
		if strings.Contains(line, "github.com/hist-cli/hist/") && !strings.Contains(line, "fleet/work.(*Linter).Lint") {
			return "in " + strings.TrimSpace(line)
		}
	}
	return ""
}
