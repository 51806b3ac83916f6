package plan

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hist-cli/hist/fleet/sink"
	"github.com/hist-cli/hist/fleet/store"
	"github.com/hist-cli/hist/fleet/work"
)

// Request is what a plan is made for.
type Request struct {
	Source   store.Store
	Out      store.Store
	Shards   int
	Options  work.Options
	Version  string        // hist's
	MinAge   time.Duration // younger objects are left out, because they may still be being written
	Previous string        // id of the run whose rows are reused, "latest" for the newest of the same source, "" for none
	Now      time.Time
}

// Make lists the source and writes a plan for it. The plan itself is written last, so that if it exists, its parts do, too.
func Make(ctx context.Context, req Request) (*Plan, Run, error) {
	run := Run{req.Out.URL(), NewRunID(req.Now)}
	p := &Plan{Schema: Schema, RunID: run.ID, Source: req.Source.URL(), Created: req.Now.UTC(), Version: req.Version, Options: req.Options}
	if _, _, err := req.Out.Head(ctx, run.PlanKey()); err == nil {
		return nil, run, fmt.Errorf("%s is planned already: wait a second and plan again", run)
	}
	before, err := req.previous(ctx)
	if err != nil {
		return nil, run, err
	}
	spool, err := newSpool(req.Shards)
	if err != nil {
		return nil, run, err
	}
	defer spool.remove()
	if err := req.list(ctx, p, before, spool); err != nil {
		return nil, run, err
	}
	if before != nil {
		p.Previous = before.run.ID
		if err := before.carry(ctx, req.Out, p, spool); err != nil {
			return nil, run, err
		}
	}
	if err := spool.put(ctx, req.Out, run); err != nil {
		return nil, run, fmt.Errorf("writing the plan of %s: %w", run, err)
	}
	p.Parts = spool.parts
	return p, run, PutJSON(ctx, req.Out, run.PlanKey(), p)
}

// list assigns every session of the source to a shard, unless its rows are known.
func (req Request) list(ctx context.Context, p *Plan, before *earlier, spool *spool) error {
	inside := outputInside(req.Source, req.Out)
	err := req.Source.List(ctx, "", func(o store.Object) error {
		if !work.IsSession(o.Key) || inside != "" && strings.HasPrefix(o.Key, inside) {
			return nil
		}
		if !utf8.ValidString(o.Key) { // only in a directory; the plan would name another file, which is not there
			return fmt.Errorf("%s: the name %q is not UTF-8, so that no plan can hold it; rename the file, or lint the directory with hist", req.Source.URL(), o.Key)
		}
		if req.Now.Sub(o.Modified) < req.MinAge {
			p.Young++
			return nil
		}
		if before.knows(o) {
			p.Carried++
			return nil
		}
		p.Objects++
		p.Bytes += o.Size
		return spool.add(Entry{Key: o.Key, ETag: o.ETag, Size: o.Size, Modified: o.Modified})
	})
	if err != nil {
		return err
	}
	if p.Objects+p.Carried+p.Young == 0 {
		return fmt.Errorf("%s: there is no session here (.jsonl, .jsonl.zst)", req.Source.URL())
	}
	return nil
}

// outputInside returns the prefix of the keys that the output has within the source; "" if the output is not below the
// source.
func outputInside(source, out store.Store) string {
	rest, ok := strings.CutPrefix(out.URL()+"/", strings.TrimRight(source.URL(), "/")+"/")
	if !ok {
		return ""
	}
	return rest // "" if both are the same store: what is written there are no session files
}

// earlier is a run whose rows may be reused. It keeps 16 bytes for each.
type earlier struct {
	run  Run
	plan *Plan
	same map[[16]byte]bool // objects whose rows can be reused, and whether they still exist unchanged
}

// previous loads the run that the request names.
func (req Request) previous(ctx context.Context) (*earlier, error) {
	id := req.Previous
	switch id {
	case "", "none":
		return nil, nil
	case "latest":
		var err error
		if id, err = latest(ctx, req.Out, req.Source.URL()); err != nil || id == "" {
			return nil, err
		}
	}
	e := &earlier{run: Run{req.Out.URL(), id}, same: map[[16]byte]bool{}}
	var err error
	if e.plan, err = Load(ctx, req.Out, e.run); err != nil {
		return nil, err
	}
	if e.plan.Version != req.Version || e.plan.Options != req.Options || e.plan.Source != req.Source.URL() {
		return nil, nil // other rules or other sessions: everything must be read
	}
	err = e.sessions(ctx, req.Out, func(_ int, row work.SessionRow) error {
		if row.Outcome == work.Linted || row.Outcome == work.Cached || row.Outcome == work.Unclaimed {
			e.same[id128(row.Key, row.ETag)] = false
		}
		return nil
	})
	return e, err
}

// latest returns the id of the newest run of a source that has written rows; "" if there is none.
func latest(ctx context.Context, out store.Store, source string) (string, error) {
	newest := ""
	err := out.List(ctx, "runs/", func(o store.Object) error {
		id, rest, _ := strings.Cut(strings.TrimPrefix(o.Key, "runs/"), "/")
		if !strings.HasPrefix(rest, "done/") || id <= newest || !runID.MatchString(id) {
			return nil
		}
		if p, err := Load(ctx, out, Run{out.URL(), id}); err == nil && p.Source == source {
			newest = id
		}
		return nil
	})
	if errors.Is(err, store.ErrGone) {
		return "", nil // the output store does not exist yet
	}
	return newest, err
}

// sessions reads the session rows of the run; shards that never ended have none.
func (e *earlier) sessions(ctx context.Context, out store.Store, each func(shard int, row work.SessionRow) error) error {
	for i := range e.plan.Parts {
		err := sink.Sessions(ctx, out, e.run.SessionsKey(i, len(e.plan.Parts)), func(row work.SessionRow) error { return each(i, row) })
		if err != nil && !errors.Is(err, store.ErrGone) {
			return err
		}
	}
	return nil
}

// knows says whether an object is unchanged since the earlier run.
func (e *earlier) knows(o store.Object) bool {
	if e == nil || o.ETag == "" {
		return false
	}
	id := id128(o.Key, o.ETag)
	_, ok := e.same[id]
	if ok {
		e.same[id] = true
	}
	return ok
}

// carry puts the rows of all unchanged objects into the plan. Findings are in the order of their sessions.
func (e *earlier) carry(ctx context.Context, out store.Store, p *Plan, spool *spool) error {
	for i := range e.plan.Parts {
		rows := map[string]*work.Result{}
		var order []string
		err := sink.Sessions(ctx, out, e.run.SessionsKey(i, len(e.plan.Parts)), func(row work.SessionRow) error {
			if e.same[id128(row.Key, row.ETag)] {
				if row.RunID = p.RunID; row.Outcome == work.Linted {
					row.Outcome = work.Cached
				}
				rows[row.Key] = &work.Result{Session: row}
				order = append(order, row.Key)
			}
			return nil
		})
		if errors.Is(err, store.ErrGone) {
			continue
		}
		if err != nil {
			return err
		}
		err = sink.Findings(ctx, out, e.run.FindingsKey(i, len(e.plan.Parts)), func(row work.FindingRow) error {
			if res := rows[row.Key]; res != nil {
				row.RunID = p.RunID
				res.Findings = append(res.Findings, row)
			}
			return nil
		})
		if err != nil {
			return err
		}
		for _, key := range order {
			res := rows[key]
			if err := spool.add(Entry{Key: key, ETag: res.Session.ETag, Size: res.Session.StoredBytes, Modified: res.Session.Modified, Carried: res}); err != nil {
				return err
			}
		}
	}
	return nil
}

func id128(key, etag string) [16]byte {
	sum := sha256.Sum256([]byte(key + "\x00" + etag))
	return [16]byte(sum[:16])
}
