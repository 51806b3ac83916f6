// Package plan says which objects a run reads, and which shard reads which. A plan is made once, before the shards begin,
// and never changes: however often a shard is tried, it does the same.
//
// In: a listing, and the rows of an earlier run. Out: the plan and its parts in the output store. Objects that have not
// changed since the earlier run are put into the plan with their rows, and are not read again.
package plan

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/hist-cli/hist/fleet/store"
	"github.com/hist-cli/hist/fleet/work"
)

// Schema names the form of plan.json.
const Schema = "hist-fleet.plan/1"

// Plan is one run.
type Plan struct {
	Schema   string       `json:"schema"`
	RunID    string       `json:"run"`
	Source   string       `json:"source"` // the store that is linted
	Created  time.Time    `json:"created"`
	Version  string       `json:"hist"`
	Options  work.Options `json:"options"`
	Previous string       `json:"previous,omitempty"` // the run whose rows were reused
	Objects  int64        `json:"objects"`            // to be read
	Bytes    int64        `json:"bytes"`              // as stored, to be read
	Carried  int64        `json:"carried"`            // unchanged since the previous run
	Young    int64        `json:"young"`              // left out, because they were written too recently
	Parts    []Part       `json:"parts"`              // one for each shard
}

// Part is what one shard has to do.
type Part struct {
	Objects int64  `json:"objects"`
	Bytes   int64  `json:"bytes"`
	Carried int64  `json:"carried"`
	SHA256  string `json:"sha256"` // of the part's file
}

// Entry is one object of a part.
type Entry struct {
	Key      string       `json:"key"`
	ETag     string       `json:"etag"`
	Size     int64        `json:"size"`
	Modified time.Time    `json:"modified"`
	Carried  *work.Result `json:"carried,omitempty"` // its rows, if it need not be read
}

// Object is the entry as the store listed it.
func (e Entry) Object() store.Object {
	return store.Object{Key: e.Key, ETag: e.ETag, Size: e.Size, Modified: e.Modified}
}

// Load reads a run's plan.
func Load(ctx context.Context, out store.Store, run Run) (*Plan, error) {
	text, err := get(ctx, out, run.PlanKey())
	if err != nil {
		return nil, fmt.Errorf("the plan of %s: %w", run, err)
	}
	var p Plan
	if err := json.Unmarshal(text, &p); err != nil {
		return nil, fmt.Errorf("the plan of %s: %w", run, err)
	}
	if p.Schema != Schema {
		return nil, fmt.Errorf("the plan of %s has schema %q; this hist-fleet reads %s", run, p.Schema, Schema)
	}
	if p.RunID != run.ID || len(p.Parts) == 0 {
		return nil, fmt.Errorf("the plan of %s belongs to another run, %q: plan again", run, p.RunID)
	}
	return &p, nil
}

// Entries reads the objects of a shard. The part must be the one that was planned.
func (p *Plan) Entries(ctx context.Context, out store.Store, run Run, shard int) ([]Entry, error) {
	key := run.PartKey(shard, len(p.Parts))
	text, err := get(ctx, out, key)
	if err != nil {
		return nil, fmt.Errorf("%s/%s: %w", out.URL(), key, err)
	}
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != p.Parts[shard].SHA256 {
		return nil, fmt.Errorf("%s/%s is not the part that was planned: plan again", out.URL(), key)
	}
	r, err := zstd.NewReader(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var entries []Entry
	for dec := json.NewDecoder(r); ; {
		var e Entry
		if err := dec.Decode(&e); errors.Is(err, io.EOF) {
			return entries, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s/%s: %w", out.URL(), key, err)
		}
		entries = append(entries, e)
	}
}

func get(ctx context.Context, from store.Store, key string) ([]byte, error) {
	body, err := from.Get(ctx, key, "")
	if err != nil {
		return nil, err
	}
	defer body.Close()
	return io.ReadAll(body)
}

// PutJSON writes a value as an object.
func PutJSON(ctx context.Context, to store.Store, key string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	text = append(text, '\n')
	if err := to.Put(ctx, key, bytes.NewReader(text), int64(len(text)), store.Condition{}, nil); err != nil {
		return fmt.Errorf("writing %s/%s: %w", to.URL(), key, err)
	}
	return nil
}
