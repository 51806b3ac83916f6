package home

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/walk"
)

// maxSlug is how much of a directory's name its folder's name repeats, in characters; a hash follows.
const maxSlug = 200

var notAlnum = regexp.MustCompile(`[^A-Za-z0-9]`)

// folderOf is a pattern for the folder of a home that holds a directory's sessions. The client resolves links in the
// directory's path, then writes a hyphen for every UTF-16 unit that is not a letter or digit.
func folderOf(home, cwd string) string {
	if cwd == "" {
		return filepath.Join(walk.Literal(home), projects, "*")
	}
	if real, err := filepath.EvalSymlinks(cwd); err == nil {
		cwd = real
	}
	slug := notAlnum.ReplaceAllStringFunc(cwd, func(s string) string {
		if len(s) == 4 {
			return "--" // beyond the basic plane: two units
		}
		return "-"
	})
	if len(slug) > maxSlug {
		slug = slug[:maxSlug] + "-*"
	}
	return filepath.Join(walk.Literal(home), projects, slug)
}

// last is the session that `claude --continue` takes: of the directory's sessions that hold a message, the one whose file was
// changed last (measured with 1.0.128 and 2.1.330). A person's client passes over what `claude -p` or the SDK began, even if a person
// has gone on with it since; `claude -p --continue` does not (measured with 2.1.332).
func last(ctx context.Context, home, cwd string, any bool) (string, error) {
	paths, err := filepath.Glob(filepath.Join(folderOf(home, cwd), "*"+format.Extension))
	if err != nil {
		return "", err
	}
	paths = slices.DeleteFunc(paths, func(p string) bool { return !format.IsID(strings.TrimSuffix(filepath.Base(p), format.Extension)) })
	slices.SortStableFunc(paths, func(a, b string) int { return cmp.Compare(walk.Modified(b), walk.Modified(a)) })
	for _, p := range paths {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		first := findLine(p, []byte(`"message"`), func(l []byte) bool {
			typ := gjson.GetBytes(l, "type").String()
			return (typ == "user" || typ == "assistant") && !gjson.GetBytes(l, "isSidechain").Bool()
		})
		if first != nil && (any || !strings.HasPrefix(gjson.GetBytes(first, "entrypoint").String(), "sdk-")) {
			return p, nil
		}
	}
	return "", nil
}

// takesAny says whether the arguments make the client print one answer and end.
func takesAny(args []string) bool {
	return slices.Contains(args, "-p") || slices.Contains(args, "--print")
}

// FolderFor is the folder of a home that holds a directory's sessions.
func FolderFor(home, cwd string) (string, error) {
	pattern := folderOf(home, cwd)
	if !strings.HasSuffix(pattern, "-*") {
		return filepath.Join(home, projects, filepath.Base(pattern)), nil
	}
	found, err := filepath.Glob(pattern)
	if err == nil && len(found) != 1 {
		err = fmt.Errorf("the name of its folder ends with a hash that only the client can make, because the path is so long: start claude once in %s, and then try again", cwd)
	}
	if err != nil {
		return "", err
	}
	return found[0], nil
}
