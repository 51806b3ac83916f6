package check

import "strings"

// Provider is a kind of model API, described by what it is known to refuse. A session is not judged by what is uncertain. docs/providers.md names the source of each fact.
type Provider struct {
	Name      string
	IDs       bool // looks at the prefix, the length and the characters of the ids it is sent
	UniqueIDs bool // never gives an id twice, and refuses a history that does
	OldIDs    bool // gets ids also from older clients, which send none to other providers
	Reasoning bool // takes reasoning only as it wrote it: encrypted, without readable content
}

// Providers are the profiles that --provider takes.
var Providers = []Provider{
	{Name: "openai", IDs: true, UniqueIDs: true, Reasoning: true},
	{Name: "azure", IDs: true, OldIDs: true},
	{Name: "compatible"},
}

// ProviderFor is the profile of the provider that a session names: a session from before they named one is
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
