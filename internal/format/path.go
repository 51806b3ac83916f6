package format

import (
	"net/url"
	"path/filepath"
	"strings"
)

// relative returns a path relative to the working directory, with slashes; one that is not below it is not made relative.
func (a About) relative(path string) string {
	if rel, ok := a.below(path); ok {
		return rel
	}
	return filepath.ToSlash(path)
}

// below returns a path relative to the working directory, with slashes, if it is below it.
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

// uri returns a path as a URI, relative if it is below the working directory.
func (a About) uri(path string) (uri string, relative bool) {
	if rel, ok := a.below(path); ok {
		return (&url.URL{Path: rel}).String(), true // String puts ./ before what looks like a scheme
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(a.Dir, path)
	}
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // it begins with a drive letter
	}
	return (&url.URL{Scheme: "file", Path: path}).String(), false
}
