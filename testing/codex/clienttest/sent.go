package clienttest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
)

// Requests resumes a session in a new home below base, twice, and returns what each of the two requests says: the instructions, the tools and
// each item of the input, with its id, as one string each; what differs between any two runs is masked.
func Requests(ctx context.Context, bin Binary, base, path string) (first, next []string, err error) {
	h, err := NewHome(base, bin)
	if err != nil {
		return nil, nil, err
	}
	defer h.Close()
	id, err := h.AddSession(path)
	if err != nil {
		return nil, nil, err
	}
	held, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	if first, err = h.Said(h.Resume(ctx, id, Prompt), id, string(held)); err != nil {
		return nil, nil, err
	}
	next, err = h.Said(h.Resume(ctx, id, Prompt), id, string(held))
	return first, next, err
}

// uuid7 is an id that tells of the moment at which it was made.
var uuid7 = regexp.MustCompile(`01[0-9a-f]{6}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`)

// Said is what the first request of a run says, in the parts that Requests tells of. An id is masked unless the session held it before.
func (h *Home) Said(res Result, id, held string) (said []string, err error) {
	if len(res.Requests) == 0 {
		return nil, fmt.Errorf("not resumed: %w: %s", res.Err, res.Stderr)
	}
	var body struct {
		Instructions string
		Tools, Input []map[string]any
	}
	if err := json.Unmarshal(res.Requests[0].Body, &body); err != nil {
		return nil, err
	}
	said = append(said, "instructions "+body.Instructions)
	for _, part := range [][]map[string]any{body.Tools, body.Input} {
		for _, v := range part {
			delete(v, "internal_chat_message_metadata_passthrough")
			if id, ok := v["id"].(string); ok && !strings.Contains(held, id) {
				delete(v, "id")
			}
			text, err := json.Marshal(v)
			if err != nil {
				return nil, err
			}
			said = append(said, uuid7.ReplaceAllStringFunc(strings.ReplaceAll(string(text), h.Root, "HOME"), func(u string) string {
				if u != id && strings.Contains(held, u) {
					return u
				}
				return "FRESH"
			}))
		}
	}
	return said, nil
}
