// Command resume has a real client resume session files, each in a fresh home,
// and prints what became of their history: one JSON line per file.
//
//	go run ./testing/codex/resume -version 0.169.0 -clean CLEAN.jsonl FILE.jsonl…
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"iter"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"

	"github.com/hist-cli/hist/testing/codex/clienttest"
)

// report is the line for one file.
type report struct {
	File    string `json:"file"`
	Version string `json:"version"`
	Resumed bool   `json:"resumed"` // the model was asked, and the answer went into this file
	Exit    int    `json:"exit"`
	Error   string `json:"error,omitempty"`
	// Session says where the new records went: same file, another, or none.
	Session    string   `json:"session"`
	Requests   int      `json:"requests"`
	ItemsSent  int      `json:"items_sent"`
	CleanItems *int     `json:"clean_items,omitempty"`
	CleanSent  *int     `json:"clean_sent,omitempty"`
	Changed    *int     `json:"changed,omitempty"` // sent under their call_id, with other content
	Missing    []string `json:"missing,omitempty"`
	Extra      []string `json:"extra,omitempty"`
	OrderKept  *bool    `json:"order_kept,omitempty"`
	Aborted    *int     `json:"aborted,omitempty"` // outputs that the client replaced by "aborted"
	Log        []string `json:"log,omitempty"`     // warnings and errors on stderr
	Blocked    []string `json:"blocked,omitempty"`
	Home       string   `json:"home,omitempty"` // with -keep
	Millis     int64    `json:"ms"`

	input []json.RawMessage
}

type options struct {
	version, clean, base string
	jobs, times          int
	keep, input          bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var o options
	flags := flag.NewFlagSet("resume", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.version, "version", "", "version of the client (default: the newest installed)")
	flags.StringVar(&o.clean, "clean", "", "undamaged file to compare with")
	flags.StringVar(&o.base, "homes", "", "directory for the homes (default: in the user's cache directory)")
	flags.IntVar(&o.jobs, "j", 2, "clients at the same time")
	flags.IntVar(&o.times, "times", 1, "resume each file this often, and report the last")
	flags.BoolVar(&o.keep, "keep", false, "leave the homes behind, and name them")
	flags.BoolVar(&o.input, "input", false, "also print the items that were sent, on stderr")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if o.version == "" {
		if all := clienttest.Versions(); len(all) > 0 {
			o.version = all[len(all)-1]
		}
	}
	if flags.NArg() == 0 || o.jobs < 1 || o.times < 1 {
		fmt.Fprintln(stderr, "usage: resume [flags] FILE.jsonl…")
		flags.PrintDefaults()
		return 2
	}
	bin, err := clienttest.Find(o.version)
	if err != nil {
		fmt.Fprintln(stderr, "resume:", err)
		return 2
	}
	var clean *report
	if o.clean != "" {
		once := o
		once.keep = false
		r := measure(ctx, bin, o.clean, once)
		if !r.Resumed {
			fmt.Fprintf(stderr, "resume: the clean file %s was not resumed: %s\n", o.clean, r.Error)
			return 1
		}
		clean = &r
	}
	enc := json.NewEncoder(stdout)
	enc.SetEscapeHTML(false)
	code := 0
	for r := range measured(ctx, bin, flags.Args(), clean, o) {
		if err := enc.Encode(r); err != nil {
			code = 1
		}
		if o.input {
			for _, item := range r.input {
				fmt.Fprintf(stderr, "%s: %s\n", r.File, item)
			}
		}
	}
	return code
}

// measured resumes the files, several at the same time, and yields their reports in the order of the files. Each is compared
// with that of the clean file, if there is one.
func measured(ctx context.Context, bin clienttest.Binary, files []string, clean *report, o options) iter.Seq[report] {
	results := make([]chan report, len(files))
	for i := range results {
		results[i] = make(chan report, 1)
	}
	next := make(chan int, len(files))
	for i := range files {
		next <- i
	}
	close(next)
	var wg sync.WaitGroup
	for range min(o.jobs, len(files)) {
		wg.Go(func() {
			for i := range next {
				r := measure(ctx, bin, files[i], o)
				if clean != nil && r.input != nil {
					r.compare(clean)
				}
				results[i] <- r
			}
		})
	}
	return func(yield func(report) bool) {
		defer wg.Wait()
		for _, result := range results {
			if !yield(<-result) {
				return
			}
		}
	}
}

// measure resumes one file in a fresh home.
func measure(ctx context.Context, bin clienttest.Binary, file string, o options) (r report) {
	r = report{File: file, Version: bin.Version, Session: "none", Exit: -1}
	fail := func(err error) report {
		r.Error = err.Error()
		return r
	}
	if err := ctx.Err(); err != nil {
		return fail(err)
	}
	h, err := clienttest.NewHome(o.base, bin)
	if err != nil {
		return fail(err)
	}
	if o.keep {
		r.Home = h.Root
		defer h.Server.Close()
	} else {
		defer func() {
			if err := h.Close(); err != nil && r.Error == "" {
				r.Error = err.Error()
			}
		}()
	}
	id, err := h.AddSession(file)
	if err != nil {
		return fail(err)
	}
	var res clienttest.Result
	for i := range o.times {
		prompt := clienttest.Prompt
		if i > 0 {
			prompt = fmt.Sprintf("%s, time %d", prompt, i+1)
		}
		if res = h.Resume(ctx, id, prompt); res.ExitCode != 0 {
			break
		}
	}
	r.Exit, r.Requests, r.Millis = res.ExitCode, len(res.Requests), res.Elapsed.Milliseconds()
	r.Blocked = h.Server.Blocked()
	r.Session = written(res.Changed, filepath.Base(h.Stored(id)))
	r.Log = logLines(res.Stderr)
	if len(res.Requests) > 0 {
		// Every home has another name: one for all makes inputs comparable.
		body := bytes.ReplaceAll(res.Requests[0].Body, []byte(h.Root), []byte("/home/dev"))
		r.input = clienttest.Input(body)
		r.ItemsSent = len(r.input)
	}
	r.Resumed = res.ExitCode == 0 && len(res.Requests) > 0 && r.Session == "same"
	r.Error = r.failure(&res)
	return r
}

// written says into which session the client wrote: the same, another, or none.
func written(changed []string, base string) string {
	which := "none"
	for _, path := range changed {
		if strings.TrimSuffix(filepath.Base(path), ".zst") == base {
			return "same"
		}
		which = "other"
	}
	return which
}

// failure says what went wrong, "" if nothing did.
func (r *report) failure(res *clienttest.Result) string {
	switch {
	case res.Err != nil:
		return res.Err.Error()
	case res.TimedOut:
		return "no end after " + clienttest.Deadline.String()
	case res.ExitCode != 0:
		return errorLine(res.Stderr)
	case r.Session == "other":
		return "the records went into another session"
	}
	return ""
}

func (r *report) compare(clean *report) {
	c := clienttest.Compare(clean.input, r.input)
	r.CleanItems, r.CleanSent, r.Changed, r.Aborted = &c.Clean, &c.Sent, &c.Changed, &c.Aborted
	r.OrderKept, r.Missing, r.Extra = &c.OrderKept, c.Missing, c.Extra
}

// errorLine is the line of stderr that says why the client gave up.
func errorLine(stderr string) string {
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if l := strings.TrimSpace(lines[i]); strings.HasPrefix(l, "Error") || strings.HasPrefix(l, "ERROR") {
			return l
		}
	}
	return strings.TrimSpace(lines[len(lines)-1])
}

// logLines picks the warnings and errors out of stderr.
func logLines(stderr string) []string {
	var found []string
	for l := range strings.Lines(stderr) {
		l = strings.TrimSpace(l)
		if strings.Contains(l, " ERROR ") || strings.Contains(l, " WARN ") {
			// 2026-01-02T03:04:05.678Z ERROR target: text
			if _, rest, ok := strings.Cut(l, " "); ok && strings.HasPrefix(l, "20") {
				l = strings.TrimSpace(rest)
			}
			found = append(found, l)
		}
	}
	return found
}
