package clienttest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/google/uuid"
	"github.com/tidwall/gjson"
)

// Requests resumes a session in a new home below dir, twice, and returns what each of the two requests says: the system prompt, the tools and
// each message's blocks, as one string each, without marks for caching and with what differs between any two runs masked.
func Requests(ctx context.Context, bin Binary, dir, path string) (first, next []string, err error) {
	h, err := NewHome(bin, dir)
	if err != nil {
		return nil, nil, err
	}
	defer h.Close()
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	id := strings.TrimSuffix(filepath.Base(path), ".jsonl")
	if uuid.Validate(id) != nil {
		id = uuid.NewString()
	}
	if _, err := h.Put(id, data); err != nil {
		return nil, nil, err
	}
	for _, said := range []*[]string{&first, &next} {
		res, err := h.Resume(ctx, id)
		if err != nil {
			return nil, nil, err
		}
		if *said, err = h.Said(res, id, string(data)); err != nil {
			return nil, nil, err
		}
	}
	return first, next, nil
}

var (
	anyUUID = regexp.MustCompile(`[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	caching = regexp.MustCompile(`,?"cache_control":\{[^{}]*\}`)
	billing = regexp.MustCompile(`cch=[0-9a-f]+`)
)

// Said is what the first request of a run says, in the parts that Requests tells of. An id is masked unless the session held it before.
func (h *Home) Said(res Result, id, held string) (said []string, err error) {
	if !res.Resumed() {
		return nil, fmt.Errorf("not resumed: %s", res.Stderr+res.Stdout)
	}
	add := func(what string, v gjson.Result) {
		text := strings.NewReplacer(h.Root, "HOME", notAlnum.ReplaceAllString(h.Root, "-"), "HOME", id, "ID").Replace(caching.ReplaceAllString(Canonical(v), ""))
		text = billing.ReplaceAllString(text, "")
		said = append(said, what+" "+anyUUID.ReplaceAllStringFunc(text, func(id string) string {
			if strings.Contains(held, id) {
				return id
			}
			return "FRESH"
		}))
	}
	body := gjson.ParseBytes(res.First)
	for _, part := range []string{"system", "tools"} {
		for _, v := range body.Get(part).Array() {
			add(part, v)
		}
	}
	for _, m := range body.Get("messages").Array() {
		role := m.Get("role").String()
		if content := m.Get("content"); content.IsArray() {
			for _, b := range content.Array() {
				add(role, b)
			}
		} else {
			add(role, content)
		}
	}
	return said, nil
}

// Items returns what a request tells the model of the conversation, one string an item: texts, thinking, calls and their
// results. What the client adds of its own (reminders, fillers) and the measuring prompt are left out.
func Items(request []byte) []string {
	var items []string
	gjson.GetBytes(request, "messages").ForEach(func(_, m gjson.Result) bool {
		role := m.Get("role").String()
		if role == "system" {
			return true
		}
		content := m.Get("content")
		if content.Type == gjson.String {
			items = addText(items, role, content.String())
			return true
		}
		content.ForEach(func(_, b gjson.Result) bool {
			switch b.Get("type").String() {
			case "text":
				items = addText(items, role, b.Get("text").String())
			case "thinking":
				items = append(items, "thinking "+b.Get("signature").String()+" "+b.Get("thinking").String())
			case "redacted_thinking":
				items = append(items, "redacted "+b.Get("data").String())
			case "tool_use":
				items = append(items, "call "+b.Get("id").String()+" "+b.Get("name").String()+" "+Canonical(b.Get("input")))
			case "tool_result":
				items = append(items, "result "+b.Get("tool_use_id").String()+" "+resultText(b.Get("content")))
			default:
				items = append(items, b.Get("type").String()+" "+b.Get("source.data").String())
			}
			return true
		})
		return true
	})
	return items
}

// addText adds a text unless the client made it.
func addText(items []string, role, text string) []string {
	trimmed := strings.TrimSpace(text)
	for _, own := range []string{"<system-reminder>", "No response requested.", "(no content)", "Caveat:", Prompt} {
		if strings.HasPrefix(trimmed, own) {
			return items
		}
	}
	if trimmed == "" {
		return items
	}
	return append(items, "text "+role+" "+trimmed)
}

func resultText(content gjson.Result) string {
	if content.Type == gjson.String {
		return content.String()
	}
	var b strings.Builder
	content.ForEach(func(_, c gjson.Result) bool {
		b.WriteString(c.Get("text").String() + c.Get("source.data").String())
		return true
	})
	return b.String()
}

// Canonical is a JSON value with sorted keys, so that equal ones are equal strings.
func Canonical(v gjson.Result) string {
	return v.Get("@ugly|@pretty:{\"sortKeys\":true,\"indent\":\"\",\"width\":0}").Raw
}

// Share is the part of the items in whole that part holds, each as often as it stands there.
func Share(part, whole []string) float64 {
	if len(whole) == 0 {
		return 1
	}
	left := map[string]int{}
	for _, item := range part {
		left[item]++
	}
	kept := 0
	for _, item := range whole {
		if left[item] > 0 {
			left[item]--
			kept++
		}
	}
	return float64(kept) / float64(len(whole))
}
