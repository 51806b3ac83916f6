package main

import (
	"math/rand/v2"
	"time"

	"github.com/hist-cli/hist/testing/codex/clienttest"
)

// fault is what goes wrong in a turn.
type fault struct {
	Kind  string        `json:"kind"`
	Reply int           `json:"reply,omitempty"` // in which reply, from 0
	N     int           `json:"n,omitempty"`     // items that are sent before a cut; KiB before a disk is full
	Delay time.Duration `json:"delay,omitempty"` // after the reply
}

// kinds are the faults and how often each comes, in percent.
var kinds = []struct {
	name string
	of   int
}{
	{"none", 30}, {"kill", 32}, {"interrupt", 6}, {"cut", 10}, {"failed", 3}, {"http", 3}, {"full", 3}, {"two", 4}, {"power", 9},
}

func someFault(rng *rand.Rand) fault {
	n := rng.IntN(100)
	f := fault{Reply: rng.IntN(4), N: rng.IntN(3), Delay: time.Duration(rng.IntN(700)) * time.Millisecond}
	for _, k := range kinds {
		if n -= k.of; n < 0 {
			f.Kind = k.name
			break
		}
	}
	switch f.Kind {
	case "none":
		return fault{Kind: "none"}
	case "full":
		f.N = rng.IntN(16) + 1
	}
	return f
}

// stops says whether the client is stopped in its turn.
func (f fault) stops() bool { return f.Kind == "kill" || f.Kind == "power" || f.Kind == "interrupt" }

// when is the moment at which it is.
func (f fault) when() clienttest.When { return clienttest.AfterReply(f.Reply+1, f.Delay) }

// spoil makes of a reply what the fault makes of it.
func (f fault) spoil(r *clienttest.Reply) {
	switch f.Kind {
	case "cut":
		r.Kind, r.Items = clienttest.Cut, r.Items[:min(f.N, len(r.Items))]
	case "failed":
		r.Kind, r.Items = clienttest.Failed, r.Items[:min(f.N, len(r.Items))]
		r.Code, r.Message = "server_is_overloaded", "Our servers are currently overloaded. Please try again later."
	case "http":
		*r = clienttest.Reply{Kind: clienttest.HTTPError, Status: 500, Body: `{"error":{"message":"internal error","type":"server_error"}}`}
	}
}

// somePlan makes a session up.
func somePlan(seed uint64, versions []string, faulty bool) plan {
	rng := rand.New(rand.NewPCG(seed, 2))
	at := rng.IntN(len(versions))
	p := plan{Seed: seed, Code: clienttest.CodeModelFor(versions[at]) != "" && seed%2 == 0, Compact: -1}
	p.Front = rng.IntN(3) == 0 && clienttest.HasFront(versions[at])
	turns := rng.IntN(4) + 3
	for turn := range turns {
		if turn > 0 && at+1 < len(versions) && rng.IntN(100) < 6 {
			at += 1 + rng.IntN(len(versions)-at-1) // an upgrade
		}
		p.Versions = append(p.Versions, versions[at])
		f := fault{Kind: "none"}
		if faulty {
			f = someFault(rng)
		}
		p.Faults = append(p.Faults, f)
	}
	if rng.IntN(100) < 12 {
		p.Compact = 1 + rng.IntN(turns-1)
	}
	p.Fork = !faulty && rng.IntN(8) == 0 && clienttest.HasFront(versions[at])
	return p
}
