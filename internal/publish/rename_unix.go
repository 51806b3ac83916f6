//go:build unix && !linux && !darwin

package publish

// renameNew renames tmp to path and fails with an error that is fs.ErrExist if that name is taken.
func renameNew(tmp, path string) error { return link(tmp, path) }
