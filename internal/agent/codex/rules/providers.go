package rules

import (
	"cmp"
	"strings"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/session"
)

// Provider is a kind of model API, by what it is known to refuse. What is not certain for one is not held against a
// session. docs/providers.md names the source of each fact.
type Provider struct {
	Name      string
	IDs       bool // looks at the prefix, the length and the characters of the ids it is sent
	UniqueIDs bool // never gives an id twice, and refuses a history that does
	OldIDs    bool // is sent ids by clients before 0.144, too
	Reasoning bool // takes reasoning only as it wrote it: encrypted, without readable content
}

// Providers are the profiles that --provider takes.
var Providers = []Provider{
	{Name: "openai", IDs: true, UniqueIDs: true, Reasoning: true},
	{Name: "azure", IDs: true, OldIDs: true},
	{Name: "compatible"},
}

// ProviderFor is the profile of the provider that a session_meta names: a session from before they named one is
// OpenAI's, and what is neither that nor Azure is some compatible API.
func ProviderFor(name string) Provider {
	switch lower := strings.ToLower(name); {
	case lower == "" || lower == "openai":
		return Providers[0]
	case strings.Contains(lower, "azure"):
		return Providers[1]
	}
	return Providers[2]
}

// newestMeasured is the newest client, 0.169, whose reading of items has been measured.
const newestMeasured = 169

// setHeader takes over what is known of the session's header, and what follows from it.
func (s *run) setHeader(h session.Info, at session.Pos) {
	s.SetHeader(h, at)
	s.header = h
	s.provider = ProviderFor(cmp.Or(s.opts.Provider, h.Provider))
	sent := s.provider.OldIDs || !s.olderThan(0, 144)
	s.provider.IDs, s.provider.UniqueIDs = s.provider.IDs && sent, s.provider.UniqueIDs && sent
	s.newer = codex.After(h.Version, 0, newestMeasured)
}
