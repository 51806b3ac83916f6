package surgery

import (
	_ "embed"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"
)

// The rules by which secrets are found are those of gitleaks 8.30.1, as data (its license lies beside it): the module itself would add several
// times the size of that file to the program.
//
//go:embed gitleaks.toml
var gitleaks []byte

// Secret is a secret in a text.
type Secret struct {
	Kind  string // the rule that found it, such as "aws-access-token"
	Value string
	Start int // of the value in the text, in bytes
}

// SecretFinder finds secrets. It may be used by several goroutines.
type SecretFinder struct {
	rules []*rule
	allow allow
}

type rule struct {
	id       string
	regex    *regexp.Regexp
	group    int
	entropy  float64
	keywords []string
	allows   []allow
}

// allow is what is no secret although a rule finds it.
type allow struct {
	target    string // "match" or "line": what the expressions are held against; else the secret itself
	regexes   []*regexp.Regexp
	stopwords []string
}

// file is the form of gitleaks.toml, as far as it is about texts: its rules for paths mean nothing in a session.
type file struct {
	Allowlist fileAllow `toml:"allowlist"`
	Rules     []struct {
		ID          string      `toml:"id"`
		Regex       string      `toml:"regex"`
		SecretGroup int         `toml:"secretGroup"`
		Entropy     float64     `toml:"entropy"`
		Keywords    []string    `toml:"keywords"`
		Allowlists  []fileAllow `toml:"allowlists"`
	} `toml:"rules"`
}

type fileAllow struct {
	RegexTarget string   `toml:"regexTarget"`
	Regexes     []string `toml:"regexes"`
	Stopwords   []string `toml:"stopwords"`
	Paths       []string `toml:"paths"`
	Condition   string   `toml:"condition"`
}

// builtIn are the rules, compiled once. No variable holds what compiles them: the agents link this package into programs that only lint, and
// the rules would come with it.
var builtIn struct {
	once   sync.Once
	finder *SecretFinder
	err    error
}

func builtInRules() (*SecretFinder, error) {
	builtIn.once.Do(func() { builtIn.finder, builtIn.err = compiledRules() })
	return builtIn.finder, builtIn.err
}

func compiledRules() (*SecretFinder, error) {
	var f file
	if err := toml.Unmarshal(gitleaks, &f); err != nil {
		return nil, fmt.Errorf("the rules for secrets: %w", err)
	}
	out := &SecretFinder{}
	var err error
	if out.allow, err = f.Allowlist.compiled(); err != nil {
		return nil, err
	}
	for _, r := range f.Rules {
		if r.Regex == "" {
			continue // it is about the names of files
		}
		c := &rule{id: r.ID, group: r.SecretGroup, entropy: r.Entropy, keywords: r.Keywords}
		if c.regex, err = regexp.Compile(r.Regex); err != nil {
			return nil, fmt.Errorf("the rule %s for secrets: %w", r.ID, err)
		}
		for _, a := range r.Allowlists {
			if a.Condition == "AND" && len(a.Paths) > 0 {
				continue // it holds only for some files
			}
			compiled, err := a.compiled()
			if err != nil {
				return nil, err
			}
			c.allows = append(c.allows, compiled)
		}
		out.rules = append(out.rules, c)
	}
	return out, nil
}

func (a fileAllow) compiled() (allow, error) {
	out := allow{target: a.RegexTarget, stopwords: a.Stopwords}
	for _, text := range a.Regexes {
		r, err := regexp.Compile(text)
		if err != nil {
			return out, fmt.Errorf("the rules for secrets: %w", err)
		}
		out.regexes = append(out.regexes, r)
	}
	return out, nil
}

// NewFinder is one with the built-in rules, with expressions of the user's own, and with expressions for what is no secret.
func NewFinder(patterns, allowed []*regexp.Regexp) (*SecretFinder, error) {
	base, err := builtInRules()
	if err != nil {
		return nil, err
	}
	f := &SecretFinder{rules: append([]*rule{}, base.rules...), allow: base.allow}
	f.allow.regexes = append(append([]*regexp.Regexp{}, f.allow.regexes...), allowed...)
	for _, p := range patterns {
		f.rules = append(f.rules, &rule{id: "pattern", regex: p})
	}
	return f, nil
}

// Find lists the secrets in a text.
func (f *SecretFinder) Find(text string) (list []Secret) {
	if len(text) < 4 {
		return nil
	}
	lower := strings.ToLower(text)
	for _, r := range f.rules {
		if !r.mayMatch(lower) {
			continue
		}
		for _, m := range r.regex.FindAllStringSubmatchIndex(text, -1) {
			if s, ok := r.secret(text, m); ok && !f.allow.allows(text, m, s) && !r.allowed(text, m, s) {
				list = append(list, s)
			}
		}
	}
	return list
}

// mayMatch says whether a text, in lower case, has a word without which the rule finds nothing.
func (r *rule) mayMatch(lower string) bool {
	return len(r.keywords) == 0 || slices.ContainsFunc(r.keywords, func(k string) bool { return strings.Contains(lower, k) })
}

// secret is the part of a match that is the secret: the group that the rule names, else the first, else all of it.
func (r *rule) secret(text string, m []int) (Secret, bool) {
	start, end := m[0], m[1]
	for g := 1; g < len(m)/2; g++ {
		if m[2*g] >= 0 && (r.group == 0 || r.group == g) && m[2*g+1] > m[2*g] {
			start, end = m[2*g], m[2*g+1]
			break
		}
	}
	value := text[start:end]
	if value == "" || r.entropy > 0 && entropy(value) <= r.entropy {
		return Secret{}, false
	}
	return Secret{Kind: r.id, Value: value, Start: start}, true
}

func (r *rule) allowed(text string, m []int, s Secret) bool {
	return slices.ContainsFunc(r.allows, func(a allow) bool { return a.allows(text, m, s) })
}

func (a *allow) allows(text string, m []int, s Secret) bool {
	against := s.Value
	switch a.target {
	case "match":
		against = text[m[0]:m[1]]
	case "line":
		from, to := strings.LastIndexByte(text[:m[0]], '\n')+1, len(text)
		if i := strings.IndexByte(text[m[1]:], '\n'); i >= 0 {
			to = m[1] + i
		}
		against = text[from:to]
	}
	if slices.ContainsFunc(a.regexes, func(r *regexp.Regexp) bool { return r.MatchString(against) }) {
		return true
	}
	if random(s.Value) {
		return false // a long random text holds some short word by chance
	}
	lower := strings.ToLower(s.Value)
	return slices.ContainsFunc(a.stopwords, func(w string) bool { return strings.Contains(lower, strings.ToLower(w)) })
}

// random says whether a text is no name that words were put together to.
func random(text string) bool {
	return len(text) >= 20 && entropy(text) > 4 && !strings.ContainsAny(text, "._-/ ") && strings.ContainsAny(text, "0123456789") &&
		strings.ToLower(text) != text && strings.ToUpper(text) != text
}

// entropy is that of a text's characters, in bits each (Shannon).
func entropy(text string) (bits float64) {
	counts := map[rune]float64{}
	n := 0.0
	for _, c := range text {
		counts[c]++
		n++
	}
	for _, k := range counts {
		bits -= k / n * math.Log2(k/n)
	}
	return bits
}
