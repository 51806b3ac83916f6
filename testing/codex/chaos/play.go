package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/hist-cli/hist/testing/codex/clienttest"
)

// plan is a session to play: all of it follows from its seed.
type plan struct {
	Seed     uint64   `json:"seed"`
	Versions []string `json:"versions"` // of the client, turn by turn
	Code     bool     `json:"code"`     // code mode
	Faults   []fault  `json:"faults"`   // turn by turn
	Compact  int      `json:"compact"`  // the turn that begins with a compaction, or -1
	Front    bool     `json:"front"`    // the client is a front end's: one process for many turns
	Fork     bool     `json:"fork"`     // it is forked at its end, and the fork is the session
}

// player plays a plan in a home.
type player struct {
	plan
	h      *clienttest.Home
	rng    *rand.Rand
	truth  *truth
	path   string // of the session, as soon as there is one
	id     string
	parent string   // the path of the session that it was forked from, if it was
	log    []string // what happened, turn by turn
	front  front

	mu      sync.Mutex
	replies [][]step
	last    step // the one that was sent last
	fault   fault
	n       int // replies of this turn
	tokens  int // to report with the next answers
}

func newPlayer(h *clienttest.Home, p plan) *player {
	pl := &player{plan: p, h: h, rng: rand.New(rand.NewPCG(p.Seed, 1)), truth: newTruth(marksOf(h))}
	h.Server.Answer, h.Server.Said = pl.answer, pl.truth.item
	return pl
}

// play plays all turns, or as many as the client will.
func (p *player) play(ctx context.Context) error {
	defer p.front.close()
	w := &writer{rng: p.rng, code: p.Code}
	for turn, version := range p.Versions {
		bin, err := clienttest.Find(version)
		if err != nil {
			return err
		}
		p.h.Bin, w.turn = bin, turn
		w.plan = bin.Version < "0.16" // as text: 0.145.0 to 0.155.1 have the tool
		said := Element{Kind: "prompt", Token: "[[p-" + w.id() + "]]", Turn: turn}
		p.truth.prompt(said)
		prompt := fmt.Sprintf("Please do step %d %s %s", turn+1, said.Token, w.words())
		p.begin(w, turn)
		res := p.turn(ctx, prompt, w)
		if res.Rollout != "" && p.path == "" {
			p.path = res.Rollout
			if p.id, err = clienttest.SessionID(p.path); err != nil {
				return err
			}
		}
		p.log = append(p.log, fmt.Sprintf("turn %d, %s, %s: exit %d, %d requests", turn, version, p.Faults[turn].Kind, res.ExitCode, len(res.Requests)))
		if p.path == "" && turn > 0 || turn > 0 && len(res.Requests) == 0 && p.Faults[turn].Kind == "none" {
			p.log = append(p.log, lastLine(res.Stderr))
			break // it does not go on by itself
		}
		if p.Faults[turn].Kind == "power" {
			p.front.close()
			p.powerLost()
		}
	}
	return ctx.Err()
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

// begin writes what the model says in a turn.
func (p *player) begin(w *writer, turn int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.replies, p.last, p.fault, p.n = w.replies(4), step{}, p.Faults[turn], 0
	for _, r := range p.replies {
		p.truth.script(r...)
	}
	p.tokens = 0
	if turn+1 == p.Compact {
		p.tokens = 3000 // above the limit, so that the next turn begins with a compaction
	}
	p.h.Server.Reset()
}

// turn runs the client once, or twice at the same time.
func (p *player) turn(ctx context.Context, prompt string, w *writer) clienttest.Result {
	h := *p.h
	h.Config = append([]string(nil), p.h.Config...)
	h.Config = append(h.Config, p.model(h.Bin.Version))
	if p.Compact >= 0 {
		h.Config = append(h.Config, "model_auto_compact_token_limit=2000")
	}
	f := p.fault
	if f.Kind == "full" {
		h.Wrap = limited(p.path, f.N)
	}
	if f.Kind == "two" && p.id != "" {
		other := Element{Kind: "prompt", Token: "[[p-" + w.id() + "]]", Turn: w.turn}
		p.truth.prompt(other)
		second := h
		var wg sync.WaitGroup
		wg.Go(func() {
			time.Sleep(f.Delay)
			second.Resume(ctx, p.id, "Meanwhile "+other.Token)
		})
		defer wg.Wait()
	}
	switch {
	case p.Front:
		return p.frontTurn(ctx, &h, prompt)
	case p.id == "" && f.stops():
		if f.Kind == "kill" || f.Kind == "power" {
			return h.ExecKill(ctx, prompt, f.when())
		}
		return h.ExecInterrupt(ctx, prompt, f.when())
	case p.id == "":
		return h.Exec(ctx, prompt)
	case f.Kind == "kill" || f.Kind == "power":
		return h.ResumeKill(ctx, p.id, prompt, f.when())
	case f.Kind == "interrupt":
		return h.ResumeInterrupt(ctx, p.id, prompt, f.when())
	}
	return h.Resume(ctx, p.id, prompt)
}

// model is the setting of the model for a client.
func (p *player) model(version string) string {
	if p.Code {
		return fmt.Sprintf("model=%q", clienttest.CodeModelFor(version))
	}
	return fmt.Sprintf("model=%q", clienttest.ModelFor(version))
}

// limited runs a client that can write no file beyond a size: a full disk for it, in the middle of a line.
func limited(path string, kib int) []string {
	if st, err := os.Stat(path); err == nil {
		kib += int(st.Size() >> 10)
	} else {
		kib += 24
	}
	return []string{"bash", "-c", `trap "" XFSZ; ulimit -f ` + fmt.Sprint(kib) + `; exec "$@"`, "limited"}
}

// answer is what the model says to a request.
func (p *player) answer(_ int, body []byte) clienttest.Reply {
	input := items(body)
	p.truth.request(input)
	p.mu.Lock()
	defer p.mu.Unlock()
	pause := time.Duration(p.rng.IntN(150)) * time.Millisecond
	if asksForSummary(input) {
		p.truth.mu.Lock()
		p.truth.compacts++
		p.truth.mu.Unlock()
		return clienttest.Reply{Items: []clienttest.Item{clienttest.Message("msg_sum", clienttest.Summary)}, Delay: pause}
	}
	p.n++
	var steps []step
	if p.last.then != nil {
		if next, ok := p.last.then(input); ok {
			p.truth.script(next)
			steps = []step{next}
		}
	}
	if steps == nil && len(p.replies) > 0 {
		steps, p.replies = p.replies[0], p.replies[1:]
	}
	p.last = step{}
	reply := clienttest.Reply{Delay: pause, Pause: pause / 2, Tokens: p.tokens}
	for _, s := range steps {
		reply.Items = append(reply.Items, s.item)
		p.last = s
	}
	if p.n == p.fault.Reply+1 {
		p.fault.spoil(&reply)
	}
	return reply
}

// asksForSummary tells a compaction: its prompt is the client's, and has none of our marks.
func asksForSummary(input []sentItem) bool {
	if len(input) == 0 {
		return false
	}
	last := input[len(input)-1]
	return last.Type == "message" && last.Role == "user" && !strings.Contains(last.Text, clienttest.Summary) && !strings.Contains(last.Text, "[[p-") && !strings.Contains(last.Text, `"text":"<`)
}

// powerLost takes from the session what had not reached the disk.
func (p *player) powerLost() {
	data, err := os.ReadFile(p.path)
	if err != nil {
		return
	}
	lost := p.rng.IntN(6000)
	end := max(0, len(data)-lost)
	if p.rng.IntN(2) == 0 {
		data = data[:end] // what was not synced is gone
	} else {
		for i := end &^ 511; i < len(data); i++ {
			data[i] = 0 // the length was synced, the block was not
		}
	}
	if err := os.WriteFile(p.path, data, 0o600); err != nil {
		p.log = append(p.log, err.Error())
	}
}
