package home

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/disk"
)

// namesFile is where clients write the names that users give to threads, one object a line, the newest last
// (0.129 to 0.169).
const namesFile = "session_index.jsonl"

// PromptsFile is where clients with a terminal of their own write each prompt that was typed, of all threads of a home, one
// object a line (0.58 to 0.169).
const PromptsFile = "history.jsonl"

// Lists are the files of names and of prompts of a home, there or not.
func Lists(home string) []string {
	return []string{filepath.Join(home, namesFile), filepath.Join(home, PromptsFile)}
}

// maxNameLine is the longest line of the file of names that is read, in bytes; a longer one is passed over.
const maxNameLine = 64 << 10

// maxNames is how many bytes of the file of names are read, the newest: a client writes some hundred for a name.
const maxNames = 16 << 20

// Named returns the ids of the threads that bear a name, in lower case and in the order in which they got it: none if no
// thread does, several if users gave it more than once. Of a thread that was renamed the newest name counts, as in the
// client (measured with 0.169.0).
func Named(home, name string) ([]string, error) {
	var ids []string
	err := eachName(home, func(id, given string) {
		ids = slices.DeleteFunc(ids, func(known string) bool { return known == id })
		if given == name {
			ids = append(ids, id)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("looking for a thread named %q: %w", name, err)
	}
	return ids, nil
}

// Names are the names that users gave to threads, by their ids in lower case, as far as they can be read.
func Names(home string) map[string]string {
	names := map[string]string{}
	eachName(home, func(id, given string) { names[id] = given }) //nolint:errcheck // where they can't be read, others stand for them
	return names
}

// eachName passes the names that threads were given, the oldest first. A line that can't be read is passed over.
func eachName(home string, see func(id, name string)) error {
	path := filepath.Join(home, namesFile)
	f, err := disk.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > maxNames { // the line that this cuts can't be read
		if _, err := f.Seek(-maxNames, io.SeekEnd); err != nil {
			return fmt.Errorf("reading %s: %w", path, err)
		}
	}
	in := bufio.NewReaderSize(f, maxNameLine)
	for long := false; ; {
		line, err := in.ReadSlice('\n')
		if long || errors.Is(err, bufio.ErrBufferFull) {
			long = errors.Is(err, bufio.ErrBufferFull)
		} else {
			entry := gjson.GetManyBytes(line, "id", "thread_name")
			if id := strings.ToLower(entry[0].String()); IsID(id) && entry[1].Type == gjson.String {
				see(id, entry[1].String())
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return fmt.Errorf("reading %s: %w", path, err)
		}
	}
}
