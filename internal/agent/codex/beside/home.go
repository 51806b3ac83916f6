// Package beside knows what Codex keeps beside its sessions, and what is wrong between that and a session: its databases, with the projection of
// paginated threads in thread_history_1.sqlite; its list of threads; the other files of a thread; the forks and reverts whose history_base
// names bytes of another rollout.
//
// In: a home, and what lint found in a session. Out: findings, what the session has lost and where it is kept, who depends on a rollout, and
// a projection that its client builds anew. It stands above lint and links a database, which is why it is not part of the agent.
//
// Never here: creating or migrating a database, and any write to a rollout.
package beside

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/agent/codex/home"
	"github.com/hist-cli/hist/internal/agent/codex/rules"
	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/internal/timeline"
	"github.com/hist-cli/hist/lint"
)

// Home compares the sessions of an agent's home with what its client keeps beside them. It only reads, and never waits for a
// client. Its methods may be called from several goroutines.
type Home struct {
	dir   string
	asker *home.Asker
	files func() (rollouts, error)
	index func() (map[string]IndexRow, error)
	// damaged are the databases that no client can read.
	damaged func() []damagedDatabase
	// unsound is the client's view of all sessions, if a repair could not change it.
	unsound func() []damagedDatabase
	// databases are those that are asked about each session.
	databases func() []agent.Database
	// providers are home.Providers: the model providers that the client knows, nil if that is not certain.
	providers  func() (known map[string]bool, standard string)
	agreements Agreements
	// unasked are the threads that the client's list holds without a prompt, by id: the client offers none of them.
	unasked func() (map[string]bool, error)

	mu        sync.Mutex
	ancestors map[string]*lint.Result // of forks, by their paths
}

// Agreements says whether a session is known to agree with databases, and neither the session nor its rows there have changed
// since. If it is not known, keep must be called once the session is found to agree.
type Agreements func(ctx context.Context, src *source.Source, databases []agent.Database) (known bool, keep func())

// Remember sets the agreements: a session that is known to agree with the databases is not looked up in them.
func (h *Home) Remember(a Agreements) { h.agreements = a }

// agreed asks the agreements about the databases. If a repair of the session may have to clear rows, the whole database must be
// unchanged, not only the session's rows.
func (h *Home) agreed(ctx context.Context, src *source.Source, res *lint.Result) (known bool, keep func()) {
	if h.agreements == nil {
		return false, func() {}
	}
	databases := h.databases()
	if slices.ContainsFunc(res.Findings, moves) {
		databases = slices.Clone(databases)
		for i := range databases {
			databases[i].Whole = true
		}
	}
	return h.agreements(ctx, src, databases)
}

// Open returns the home at dir. What it needs of the home is read when first asked for.
func Open(ctx context.Context, dir string) *Home {
	h := &Home{
		dir:       dir,
		asker:     home.NewAsker(ctx),
		files:     sync.OnceValues(func() (rollouts, error) { return listRollouts(ctx, dir) }),
		index:     sync.OnceValues(func() (map[string]IndexRow, error) { return known(ReadIndex(ctx, dir)) }),
		databases: sync.OnceValue(func() []agent.Database { return []agent.Database{home.History(dir), home.State(dir)} }),
		providers: sync.OnceValues(func() (map[string]bool, string) { return home.Providers(dir) }),
		damaged:   sync.OnceValue(func() []damagedDatabase { return damagedDatabases(ctx, dir) }),
		unsound:   sync.OnceValue(func() []damagedDatabase { return unsoundProjection(ctx, dir) }),
	}
	h.unasked = sync.OnceValues(func() (map[string]bool, error) {
		threads, err := known(h.Threads(ctx))
		ids := map[string]bool{}
		for _, t := range threads {
			ids[t.ID] = t.Unasked && !t.Archived && !t.Subagent // the others it would not offer anyway
		}
		return ids, err
	})
	return h
}

// known treats a database in an unknown form, which a newer client may have made, as missing.
func known[T any](value T, err error) (T, error) {
	if errors.Is(err, errSchema) {
		var none T
		return none, nil
	}
	return value, err
}

// Session lists what is wrong between one session of the home and its neighbours. res is what lint found in it.
func (h *Home) Session(ctx context.Context, src *source.Source, res *lint.Result) ([]lint.Finding, error) {
	name, ok := home.ParseName(filepath.Base(src.Real))
	if !ok {
		return nil, h.copied(src, res)
	}
	busy, err := h.asker.InUse(src.Real, h.dir, name.ThreadID)
	if err != nil {
		return nil, err
	}
	return h.Used(ctx, src, res, busy)
}

// Used is Session for a session of which it is known whether somebody uses it.
func (h *Home) Used(ctx context.Context, src *source.Source, res *lint.Result, busy *home.Busy) ([]lint.Finding, error) {
	name, ok := home.ParseName(filepath.Base(src.Real))
	if !ok {
		return nil, h.copied(src, res)
	}
	if busy != nil {
		return []lint.Finding{ofFile(rules.InUse, busy.Reason)}, nil // it is changing: what is compared now says nothing
	}
	projection, unread, err := h.viewed(ctx, src, res, name)
	if err != nil {
		return nil, err
	}
	lineage, err := h.lineage(ctx, src, res, name.RolloutID)
	if err != nil {
		return nil, err
	}
	moved, err := h.misled(ctx, src, res, name)
	if err != nil {
		return nil, err
	}
	provider, err := h.unprovided(ctx, src, res, name.ThreadID)
	return slices.Concat(projection, lineage, moved, provider, h.broken(res, unread)), err
}

// copied makes notes of what was found in a copy beside a session, which nothing can point to, where the client's list names the session's own
// file, and that is not the smaller one: the client reads no other, and nobody misses what is in the copy.
func (h *Home) copied(src *source.Source, res *lint.Result) error {
	right := home.Right(filepath.Base(src.Real))
	name, ok := home.ParseName(right)
	if !ok {
		return nil
	}
	own := filepath.Join(filepath.Dir(src.Real), right)
	info, err := os.Stat(own)
	if err != nil || !info.Mode().IsRegular() || info.Size() < src.Info.Size() {
		return nil //nolint:nilerr // then the copy is all that there is
	}
	index, err := h.index()
	if listed := index[name.ThreadID].Path; err == nil && listed != "" && samePath(listed, own) {
		res.Findings = slices.Clone(res.Findings)
		for i := range res.Findings {
			res.Findings[i].Impact = lint.Notes
		}
	}
	return err
}

// viewed lists what is wrong between one session and the databases, and the databases that can't be read where they are about
// it.
func (h *Home) viewed(ctx context.Context, src *source.Source, res *lint.Result, name home.FileName) ([]lint.Finding, []damagedDatabase, error) {
	known, keep := h.agreed(ctx, src, res)
	if known {
		return nil, nil, nil
	}
	projection, err := h.projection(ctx, src, res, name.RolloutID)
	unread, err := h.unread(ctx, name, err)
	if err == nil && len(unread) == 0 && (len(projection) > 0 || slices.ContainsFunc(res.Findings, moves)) {
		unread = h.unsound()
	}
	if err == nil && len(projection) == 0 && len(unread) == 0 {
		keep()
	}
	return projection, unread, err
}

// moves says whether the repair of a finding may move what the client's view has read.
func moves(f lint.Finding) bool { return f.Fix != lint.NoFix && f.Impact >= lint.Loses }

// ofFile is a finding about a file as a whole.
func ofFile(rule *lint.Rule, message string) lint.Finding {
	return lint.Finding{Rule: rule, Impact: rule.Impact, Fix: rule.Fix, Message: message}
}

// Inherits lists what is wrong between the text of a session that lies at a path of the home, or is to lie there, and its
// ancestors. res is what lint found in it.
func (h *Home) Inherits(ctx context.Context, path string, src *source.Source, res *lint.Result) ([]lint.Finding, error) {
	name, ok := home.ParseName(filepath.Base(path))
	if !ok {
		return nil, nil // nothing can point to it
	}
	return h.lineage(ctx, src, res, name.RolloutID)
}

// lineage follows the history_base of a fork.
func (h *Home) lineage(ctx context.Context, src *source.Source, res *lint.Result, rolloutID string) ([]lint.Finding, error) {
	if res.Summary.Header.BaseThread == "" {
		return nil, nil
	}
	files, err := h.files()
	if err != nil {
		return nil, err
	}
	find := func(id string) string { return files.of[strings.ToLower(id)].read }
	b, err := lineageOf(ctx, res.Summary.Header, rolloutID, find)
	if err != nil {
		return nil, err
	}
	if b == nil {
		what, err := h.inherited(ctx, src, res.Summary.Header, find)
		if what == "" || err != nil {
			return nil, err
		}
		b = &lineageBreak{What: what}
	}
	f := ofFile(rules.BrokenLineage, b.What)
	f.Pos = session.Pos{Line: 1}
	if !b.Refused {
		f.Impact = lint.Loses
	}
	h.ownPast(ctx, src, res, &f, b.Rewritten, find)
	return []lint.Finding{f}, nil
}

// unread lists the databases that can't be read where they are about one session. viewed is the error of reading the client's
// view of it; if it is another error, it is returned.
func (h *Home) unread(ctx context.Context, name home.FileName, viewed error) (found []damagedDatabase, err error) {
	if errors.Is(readRow(ctx, h.dir, name.ThreadID), errDamaged) {
		found = damagedRow(ctx, h.dir, name.ThreadID)
	}
	if errors.Is(viewed, errDamaged) {
		return append(found, damagedProjection(ctx, h.dir, name.RolloutID)...), nil
	}
	return found, viewed
}

// broken reports the databases that can't be read, as a whole or where they are about a session. Clients before 0.150 do
// without them; newer ones resume nothing, or not that session.
func (h *Home) broken(res *lint.Result, unread []damagedDatabase) (found []lint.Finding) {
	whole := h.damaged()
	for _, d := range unread {
		if !slices.ContainsFunc(whole, func(w damagedDatabase) bool { return w.Name == d.Name }) {
			whole = append(whole[:len(whole):len(whole)], d)
		}
	}
	for _, d := range whole {
		what := fmt.Sprintf("the client cannot read its database %s (%s): from 0.150 on it then resumes no session", d.Name, d.Why)
		if d.Part {
			what = fmt.Sprintf("the client cannot read what its database %s holds on this session (%s): from 0.150 on it may then not resume it", d.Name, d.Why)
		}
		const option = "--in-place --move-databases"
		f := ofFile(rules.DamagedDatabase, what+"; hist repair "+option+" keeps it and moves it away, and the client makes a new one")
		f.Option, f.Beside = option, filepath.Join(home.Databases(h.dir), d.Name)
		if codex.Before(res.Summary.Header.Version, 0, 150) {
			f.Impact = lint.Notes
		}
		found = append(found, f)
	}
	return found
}

// Listed lists what is wrong between one session of the home and the home as a whole: other files of its thread, and
// the client's list of threads.
func (h *Home) Listed(ctx context.Context, src *source.Source) ([]lint.Finding, error) {
	name, ok := home.ParseName(filepath.Base(src.Real))
	if !ok {
		return nil, nil
	}
	files, err := h.files()
	if err != nil {
		return nil, err
	}
	found := duplicates(src, name, files)
	index, err := h.index()
	if err != nil || index == nil {
		return found, err
	}
	list := "the client's list of threads (" + filepath.Base(indexPath(h.dir)) + ") has "
	if index[name.ThreadID].Path == "" {
		return append(found, ofFile(rules.IndexMissing, list+"no row for this session")), nil
	}
	unasked, err := h.unasked()
	if err != nil || !unasked[name.ThreadID] {
		return found, err
	}
	g, err := timeline.LookAt(ctx, src, timeline.LookOptions{Content: true})
	if err == nil && g.First != "" {
		found = append(found, ofFile(rules.IndexMissing, list+"no prompt of this session: the client does not offer it when it is asked what to resume; resume it by its id"))
	}
	return found, ctx.Err() // any other reason why it can't be read is reported when it is linted
}

// Index is the path of the client's list of threads, and what is wrong with it apart from any session of the home: threads
// whose file is missing.
func (h *Home) Index() (path string, found []lint.Finding, err error) {
	path = indexPath(h.dir)
	index, err := h.index()
	if err != nil || index == nil {
		return path, nil, err
	}
	files, err := h.files()
	if err != nil {
		return path, nil, err
	}
	var gone int64
	first := ""
	for id, listed := range index {
		if files.of[id].first == "" && !exists(listed.Path) {
			gone++
			if first == "" || id < first {
				first = id
			}
		}
	}
	if gone > 0 {
		f := ofFile(rules.IndexStale, fmt.Sprintf("thread %s is listed at %s, where there is no file", first, index[first].Path))
		f.Count = gone
		found = append(found, f)
	}
	return path, found, nil
}

// exists says whether a rollout exists, plain or compressed.
func exists(path string) bool {
	for _, p := range []string{path, path + ".zst", strings.TrimSuffix(path, ".zst")} {
		if _, err := os.Stat(p); err == nil {
			return true
		}
	}
	return false
}

// samePath says whether two paths lead to the same file.
func samePath(a, b string) bool {
	if a == b {
		return true
	}
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}
