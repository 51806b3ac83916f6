package check

import (
	"slices"
	"strings"
)

// Provider is a kind of model API. What each is known to refuse is in the tables of package api, by its name.
type Provider struct {
	Name     string
	Messages bool // it is one of the Messages API
	OldIDs   bool // gets ids also from older clients, which send none to other providers
}

// Providers are the profiles that --provider takes.
var Providers = []Provider{
	{Name: "openai"},
	{Name: "azure", OldIDs: true},
	{Name: "compatible"},
	{Name: "chatgpt"},
	{Name: "anthropic", Messages: true},
	{Name: "gateway", Messages: true},
}

// Asked is the profile that Options.Provider asks for, and the name that the client's configuration has for it: "compatible=local" asks
// for a compatible API that is called local there. name is "" if it is not given; the profile is nil if there is none.
func Asked(provider string) (p *Provider, name string) {
	profile, name, _ := strings.Cut(provider, "=")
	if i := slices.IndexFunc(Providers, func(p Provider) bool { return p.Name == profile }); i >= 0 {
		p = &Providers[i]
	}
	return p, name
}

// ProviderFor is the profile of a session's provider: the one that is asked for, else the one that the session names. A session from
// before they named one is OpenAI's, and what is neither that nor Azure is some compatible API.
func ProviderFor(asked, named string) Provider {
	if p, _ := Asked(asked); p != nil && !p.Messages {
		return *p
	}
	switch lower := strings.ToLower(named); {
	case lower == "" || lower == "openai":
		return Providers[0]
	case strings.Contains(lower, "azure"):
		return Providers[1]
	}
	return Providers[2]
}

// Changes says whether a session that names a provider is to go on with another one. Of the Messages API a session names none: there,
// any that is asked for may be another.
func Changes(asked, named string) bool {
	p, name := Asked(asked)
	return p != nil && (p.Messages || p.Name != ProviderFor("", named).Name || name != "" && name != named)
}

// Reseals says whether what is encrypted can't be read after such a change: OpenAI's two endpoints have one key.
func Reseals(asked, named string) bool {
	p, _ := Asked(asked)
	own := ProviderFor("", named).Name
	return Changes(asked, named) && !p.Messages && !(own == "openai" && (p.Name == "openai" || p.Name == "chatgpt"))
}
