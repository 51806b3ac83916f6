package corpus

import (
	"bufio"
	"fmt"
	"io"
	"math/rand"
	"time"
)

// records is how the ids of all records begin: the files of a home in which two begin with the same record are forks of each other.
const records = "9b6a3805-8315-4f97-b1e1-"

// claude is what of a writer only a session of Claude Code's has.
type claude struct {
	*writer
	now    time.Time
	parent string // the uuid of the newest record
	prompt string // the turn's id
	links  int    // records so far
}

// WriteClaude writes a session as Claude Code 2.1.330 does: a chain of prompts, answers, calls and outputs. Of the options it
// takes the size, the seed and the length of texts.
func WriteClaude(to io.Writer, o Options) error {
	if o.Text == 0 {
		o.Text = medianText
	}
	w := &writer{out: bufio.NewWriterSize(to, 1<<20), opts: o, rng: rand.New(rand.NewSource(o.Seed))}
	w.pieces = pieces(w.rng)
	c := &claude{writer: w, now: time.Date(2026, 11, 21, 22, 4, 1, 0, time.UTC)}
	c.line(`{"type":"mode","mode":"normal","sessionId":"` + thread + `"}`)
	for w.written < o.Size && w.err == nil {
		c.turn()
	}
	if w.err == nil {
		w.err = w.out.Flush()
	}
	return w.err
}

// turn writes a prompt, some calls with their outputs, and an answer.
func (c *claude) turn() {
	c.turns++
	c.prompt = fmt.Sprintf("b771a363-7100-46e3-bc95-%012d", c.turns)
	asked := c.text().once
	c.chained(fmt.Sprintf(`"promptId":%q,"type":"user","message":{"role":"user","content":"%s"}`, c.prompt, asked), `"permissionMode":"default","promptSource":"sdk","turnOrigin":"sdk",`)
	for range c.rng.Intn(8) {
		c.calls++
		c.answer(fmt.Sprintf(`{"type":"tool_use","id":"toolu_%d","name":"Bash","input":{"command":"%s","description":"look"},"caller":{"type":"direct"}}`,
			c.calls, c.textOf(c.opts.Text/commandShare).once), "tool_use")
		call, out := c.parent, c.text().once
		c.chained(fmt.Sprintf(`"promptId":%q,"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_%d","type":"tool_result","content":"%s","is_error":false}]}`, c.prompt, c.calls, out),
			fmt.Sprintf(`"toolUseResult":{"stdout":"%s","stderr":"","interrupted":false,"isImage":false,"noOutputExpected":false},"sourceToolAssistantUUID":%q,`, out, call))
	}
	c.answer(`{"type":"text","text":"`+c.text().once+`"}`, "end_turn")
	c.line(fmt.Sprintf(`{"type":"last-prompt","lastPrompt":"%s","leafUuid":%q,"sessionId":%q}`, asked, c.parent, thread))
}

// answer writes a part of an answer, with what the client counts of its tokens.
func (c *claude) answer(block, stop string) {
	c.chained(fmt.Sprintf(`"message":{"id":"msg_%024d","type":"message","role":"assistant","model":"claude-opus-5-5","content":[%s],"stop_reason":%q,"stop_sequence":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":0,"cache_read_input_tokens":48213,"output_tokens":512,"service_tier":"standard"}},"requestId":"req_%d","type":"assistant"`,
		c.links, block, stop, c.links), "")
}

// chained writes a record that hangs on the one before.
func (c *claude) chained(what, more string) {
	parent := "null"
	if c.parent != "" {
		parent = `"` + c.parent + `"`
	}
	c.links++
	c.now = c.now.Add(137 * time.Millisecond)
	c.parent = fmt.Sprintf(records+"%012d", c.links)
	c.line(fmt.Sprintf(`{"parentUuid":%s,"isSidechain":false,%s,"uuid":%q,"timestamp":%q,%s"userType":"external","entrypoint":"sdk-cli","cwd":"/home/dev/demo","sessionId":%q,"version":"2.1.330","gitBranch":"HEAD"}`,
		parent, what, c.parent, c.now.Format("2006-01-02T15:04:05.000Z"), more, thread))
}

func (c *claude) line(text string) {
	n, err := fmt.Fprintln(c.out, text)
	c.written += int64(n)
	if err != nil {
		c.err = err
	}
}
