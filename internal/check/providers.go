package check

import "strings"

// Provider is a kind of model API, by what it is known to refuse. What is not certain for one is not held against a
// session. docs/providers.md names the source of each fact.
type Provider struct {
	Name      string
	IDs       bool // looks at the prefix, the length and the characters of the ids it is sent
	UniqueIDs bool // never gives an id twice, and refuses a history that does
	OldIDs    bool // is sent ids by older clients, too, which send none to others
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
