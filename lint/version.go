package lint

import "github.com/hist-cli/hist/internal/agent/codex"

// olderThan says whether the session will be resumed by a client before 0.minor or, if nobody said, false: the
// newest client is what damage is judged by.
func (s *run) olderThan(major, minor int) bool {
	return codex.Before(s.opts.ForCodex, major, minor)
}
