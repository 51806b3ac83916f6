package cmd

import (
	"bufio"
	"os"

	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/publish"
	"github.com/hist-cli/hist/lint"
)

// apart refuses to write two outputs to one file, and to replace a session or a file that is read.
func (l *lintRun) apart(outputs []outputTo) error {
	var files []string
	for _, o := range outputs {
		if o.file == "" {
			continue
		}
		for _, other := range files {
			same, err := publish.SameFile(o.file, other)
			if err != nil {
				return err
			}
			if same {
				return usage("two outputs go to one file, %s", o.file)
			}
		}
		if err := l.spared(o.file); err != nil {
			return err
		}
		files = append(files, o.file)
	}
	return nil
}

// spared refuses to write to a file that is read, or that is a session.
func (l *lintRun) spared(file string) error {
	info, err := os.Stat(file)
	if err != nil {
		return nil // the file does not exist yet
	}
	same := func(other string) bool {
		its, err := os.Stat(other)
		return err == nil && os.SameFile(info, its)
	}
	for _, t := range l.every {
		if t.path == "-" {
			if f := l.env.stdin(); f != nil {
				if in, err := f.Stat(); err == nil && os.SameFile(info, in) {
					return usage("this would replace the session %s, which is standard input", file)
				}
			}
		} else if same(t.path) {
			return usage("this would replace the session %s", file)
		}
	}
	switch {
	case l.c.IsSet("baseline") && same(l.c.String("baseline")):
		return usage("this would replace the baseline %s; write a new one with --write-baseline", file)
	case l.filter.config.path != "" && same(l.filter.config.path):
		return usage("this would replace the config %s", file)
	case isSession(file, info):
		return usage("this would replace %s, which is a session", file)
	}
	return nil
}

// isSession says whether a regular file has the name of a session, or begins like one.
func isSession(path string, info os.FileInfo) bool {
	if lint.NameOf(path, false).Canonical {
		return true
	}
	if !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	line, _ := bufio.NewReaderSize(f, 64<<10).ReadSlice('\n')
	return all.IsRecord(line)
}
