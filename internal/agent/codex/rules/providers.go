package rules

import (
	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/api"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/session"
)

// newestMeasured is the newest client, 0.171, whose reading of items has been measured.
const newestMeasured = 171

// setHeader takes over what is known of the session's header, and what follows from it.
func (s *run) setHeader(h session.Info, at session.Pos) {
	s.SetHeader(h, at)
	s.header = h
	s.provider = check.ProviderFor(s.opts.Provider, h.Provider)
	s.opts.StripEncrypted = s.opts.StripEncrypted || check.Reseals(s.opts.Provider, h.Provider)
	clear(s.idLimits)
	s.sendsIDs = s.provider.OldIDs || !s.olderThan(144)
	s.uniqueIDs = s.sendsIDs && api.Wants(s.provider.Name, "twin-id")
	s.newer = codex.After(h.Version, 0, newestMeasured)
}
