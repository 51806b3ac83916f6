package format

import (
	"net/url"
	"path/filepath"
	"strings"
)

// relative is a path as seen from the working directory, with slashes; one that lies elsewhere stays as it is.
func (a About) relative(path string) string {
	if rel, ok := a.below(path); ok {
		return rel
	}
	return filepath.ToSlash(path)
}

// below returns a path relative to the working directory, with slashes, if it lies below it.
func (a About) below(path string) (string, bool) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(a.Dir, path)
	}
	rel, err := filepath.Rel(a.Dir, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// uri is a path as a URI, relative if it lies below the working directory.
func (a About) uri(path string) (uri string, relative bool) {
	if rel, ok := a.below(path); ok {
		return (&url.URL{Path: rel}).String(), true // with ./ before what looks like a scheme
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(a.Dir, path)
	}
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a drive's letter
	}
	return (&url.URL{Scheme: "file", Path: path}).String(), false
}
