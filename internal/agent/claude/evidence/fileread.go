package evidence

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/agent/claude/home"
	"github.com/hist-cli/hist/internal/jsonl"
)

// maxStates is how many texts of one file are kept.
const maxStates = 64

// The client notes a file's text before and after each edit in the structured results of its tools, and keeps copies of each
// file that it edits: file-history/SESSION/HASH@vN, where HASH is the first 16 digits of the SHA-256 of the path (2.1.2 to
// 2.1.330, measured). Version 1 is the file before the session's first edit of it; each prompt that follows an edit makes the
// next.

// fileText is a file's text at some time.
type fileText struct {
	text   string
	source string // where it was found, for the report
}

// touch is a record that shows that a tool read or changed a file.
type touch struct {
	at     int64    // the record's offset
	call   bool     // the record holds the call; otherwise its output
	edits  bool     // the call changes the file
	before fileText // for an edit's output: the text before it, if that is also what was last read; otherwise it has no source
}

// fileStory is what a session, and the copies beside it, show about one file.
type fileStory struct {
	name    string // of the file's copies, without @v and the version
	copies  string // the folder that holds them
	touches []touch
	states  []fileText
	copied  fileText // the text of the copy that was last made before an edit
	form    content.ReadForm
}

// ReadOutput returns what a call has read from a file, according to the session or the client's file history, and words
// that say where it was found. sent says whether the client has sent given words as the output; nil if the session can't
// show that: then only the text that the next edit found is used, and only if it is known to be what was read.
func (f *Folder) ReadOutput(c content.FileRead, sent func(words string) bool) (words, source string) {
	f.asked()
	if f.lookups++; f.lookups > maxLookups || c.File == "" {
		return "", ""
	}
	s := f.storyOf(c)
	if sent == nil {
		before := s.beforeNextEdit(c.At)
		if before.source == "" || s.form.Line == "" {
			return "", ""
		}
		words, ok := s.form.Show(before.text, c)
		if !ok {
			return "", ""
		}
		return words, before.source
	}
	s.addCopies()
	for _, t := range s.states {
		for _, line := range content.ReadForms {
			if words, ok := (content.ReadForm{Line: line, Suffix: s.form.Suffix}).Show(t.text, c); ok && sent(words) {
				return words, t.source
			}
		}
	}
	return "", ""
}

// storyOf collects what the session shows about a call's file.
func (f *Folder) storyOf(c content.FileRead) *fileStory {
	if s := f.stories[c.File]; s != nil {
		return s
	}
	sum := sha256.Sum256([]byte(c.File))
	s := &fileStory{
		name:   hex.EncodeToString(sum[:])[:16],
		copies: filepath.Join(f.home(), "file-history", f.session),
	}
	quoted, copied := jsonl.AppendQuote(nil, c.File), []byte(`"`+s.name+`@v`)
	f.eachOwn(func(l jsonl.Line, record func() bool) bool {
		switch {
		case bytes.Contains(l.Raw, quoted) && record():
			s.tool(gjson.ParseBytes(l.Raw), l.Offset, c.File)
		case bytes.Contains(l.Raw, copied) && record():
			s.noted(gjson.ParseBytes(l.Raw))
		case s.form.Line == "" && bytes.Contains(l.Raw, []byte(`"totalLines"`)) && record():
			s.form = formOf(gjson.ParseBytes(l.Raw))
		}
		return true
	})
	if f.stories == nil {
		f.stories = map[string]*fileStory{}
	}
	f.stories[c.File] = s
	return s
}

// tool takes a record that names the file: a call, or its structured result.
func (s *fileStory) tool(v gjson.Result, at int64, file string) {
	v.Get("message.content").ForEach(func(_, b gjson.Result) bool {
		if in := b.Get("input"); b.Get("type").String() == "tool_use" && in.Get("file_path").String() == file {
			name := b.Get("name").String()
			s.touches = append(s.touches, touch{at: at, call: true, edits: name == "Edit" || name == "Write" || name == "MultiEdit"})
			if name == "Write" {
				s.add(in.Get("content"), "the call that wrote the file")
			}
		}
		return true
	})
	r := v.Get("toolUseResult")
	if read := r.Get("file"); read.Get("filePath").String() == file {
		s.touches = append(s.touches, touch{at: at})
		s.form = cmp.Or(s.form, formOf(v))
		if read.Get("startLine").Int() <= 1 && read.Get("numLines").Int() == read.Get("totalLines").Int() {
			s.add(read.Get("content"), "the output of another call that read the file")
		}
	}
	if r.Get("filePath").String() != file {
		return
	}
	const source = "the structured result of the file's edit"
	before := s.add(r.Get("originalFile"), source)
	if before.source == "" {
		before = s.copied
	}
	if s.copied = (fileText{}); !asRead(v) {
		before = fileText{}
	}
	s.touches = append(s.touches, touch{at: at, before: before})
	switch was, now := r.Get("oldString"), r.Get("newString"); {
	case r.Get("type").Exists():
		s.add(r.Get("content"), source)
	case was.String() != "" && now.Exists() && r.Get("originalFile").Type == gjson.String:
		times := 1
		if r.Get("replaceAll").Bool() {
			times = -1
		}
		s.addText(strings.Replace(r.Get("originalFile").String(), was.String(), now.String(), times), source)
	}
}

// asRead says whether an edit's output shows that the file still held what was last read of it. Versions up to 2.1.181 refuse
// the edit otherwise; 2.1.215 and 2.1.330 make it, and say what they found; 1.0.128 and older don't check (measured).
func asRead(v gjson.Result) bool {
	version := v.Get("version").String()
	return !format.Before(version, "2.0.76") && format.Before(version, "2.1.182") ||
		strings.Contains(v.Get("message.content.0.content").String(), "(file state is current")
}

// noted takes the record of a copy that the client made before an edit.
func (s *fileStory) noted(v gjson.Result) {
	name := v.Get("backup.backupFileName").String()
	if v.Get("isSnapshotUpdate").Bool() {
		v.Get("snapshot.trackedFileBackups").ForEach(func(_, b gjson.Result) bool {
			if n := b.Get("backupFileName").String(); strings.HasPrefix(n, s.name+"@v") {
				name = n
			}
			return true
		})
	}
	if strings.HasPrefix(name, s.name+"@v") {
		s.copied = s.copyOf(name)
	}
}

// beforeNextEdit is the file's text when it was edited next, if nothing touched it between the call at an offset and that edit.
func (s *fileStory) beforeNextEdit(at int64) fileText {
	behind := slices.DeleteFunc(slices.Clone(s.touches), func(t touch) bool { return t.at <= at })
	if len(behind) == 0 || !behind[0].edits {
		return fileText{}
	}
	if len(behind) < 2 || behind[1].call {
		return fileText{}
	}
	return behind[1].before
}

// add keeps the text of a member, if it is one and hist did not write it.
func (s *fileStory) add(v gjson.Result, source string) fileText {
	if v.Type != gjson.String || bytes.Contains([]byte(v.Raw), HistMark) {
		return fileText{}
	}
	return s.addText(v.String(), source)
}

func (s *fileStory) addText(text, source string) fileText {
	known := fileText{text, source}
	if len(text) > content.MaxText {
		return fileText{}
	}
	if len(s.states) < maxStates && !slices.ContainsFunc(s.states, func(k fileText) bool { return k.text == text }) {
		s.states = append(s.states, known)
	}
	return known
}

// addCopies keeps the texts of the file's copies.
func (s *fileStory) addCopies() {
	entries, err := os.ReadDir(s.copies)
	if err != nil {
		return
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), s.name+"@v") && e.Type().IsRegular() && len(s.states) < maxStates {
			s.copyOf(e.Name())
		}
	}
}

// copyOf is the text of one copy.
func (s *fileStory) copyOf(name string) fileText {
	if filepath.Base(name) != name {
		return fileText{}
	}
	text, err := home.ReadSmall(filepath.Join(s.copies, name))
	if err != nil || bytes.Contains(text, HistMark) {
		return fileText{}
	}
	return s.addText(string(text), "the client's file history, "+name)
}

// formOf is the form in which a record shows what was read; the zero form if it is not a known one.
func formOf(v gjson.Result) content.ReadForm {
	read := v.Get("toolUseResult.file")
	blocks := v.Get("message.content").Array()
	if len(blocks) != 1 || read.Get("content").String() == "" || !read.Get("numLines").Exists() {
		return content.ReadForm{}
	}
	shown := blocks[0].Get("content")
	if shown.Type != gjson.String || bytes.Contains([]byte(shown.Raw), HistMark) {
		return content.ReadForm{}
	}
	for _, line := range content.ReadForms {
		words, ok := content.ReadForm{Line: line}.Show(read.Get("content").String(), content.FileRead{Limit: read.Get("numLines").Int()})
		if start := read.Get("startLine").Int(); ok && start > 1 {
			continue // the lines of words are numbered from 1, these are not
		}
		if suffix, found := strings.CutPrefix(shown.String(), words); ok && found {
			return content.ReadForm{Line: line, Suffix: suffix}
		}
	}
	return content.ReadForm{}
}
