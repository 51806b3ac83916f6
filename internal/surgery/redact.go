package surgery

import (
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/session"
)

// RedactOptions say what is taken out as a secret.
type RedactOptions struct {
	Finder *SecretFinder
	Salt   []byte // makes the tags of this run its own, so that nobody can guess a secret by its tag
	// Known are secrets that were found elsewhere, each with its placeholder.
	Known map[string]string
	// DropEncrypted allows to take out compactions of which only the provider can read what they hold.
	DropEncrypted bool
}

// Hit is a place of a secret.
type Hit struct {
	Kind string
	Pos  session.Pos
	Path string // in the record
}

// Redaction is a plan to take secrets out.
type Redaction struct {
	*Plan
	Hits    []Hit
	Secrets []string                 // their values
	Changed map[*session.Record]bool // records in which something is replaced
	// Thinking are the records in whose thinking a secret stands: that must not be altered.
	Thinking map[*session.Record]bool
	s        *Session
	opts     RedactOptions
	ids      map[string]bool
	Tags     map[string]string // the placeholders, by secret
}

// Redact plans to replace each secret in every text of a session.
func Redact(s *Session, of Surgeon, opts RedactOptions) (*Redaction, error) {
	r := &Redaction{Plan: &Plan{Sends: Marked}, s: s, opts: opts, Changed: map[*session.Record]bool{}, Thinking: map[*session.Record]bool{}, ids: map[string]bool{}, Tags: map[string]string{}}
	r.collectIDs()
	r.collect()
	r.forgetData()
	if len(r.Secrets) == 0 {
		return r, nil
	}
	r.replace()
	return r, of.Redact(s, r, opts)
}

// eachText shows each text of the session's records that a secret may be taken out of.
func (r *Redaction) eachText(visit func(rec *session.Record, v *Value)) {
	for i := range r.s.Records {
		rec := &r.s.Records[i]
		if rec.Kind == session.Unreadable {
			continue
		}
		Walk(rec.Raw, func(v *Value) bool {
			if technical(v) {
				return false
			}
			if v.Type == gjson.String {
				visit(rec, v)
			}
			return true
		})
	}
}

// technicalKeys are members in which a session keeps what is not text: ids, names, signatures, encrypted contents, hashes.
var technicalKeys = map[string]bool{
	"id": true, "uuid": true, "signature": true, "encrypted_content": true, "type": true, "role": true, "timestamp": true, "version": true,
	"model": true, "namespace": true, "tool": true, "tool_name": true, "hash": true, "base": true, "tail": true, "requestDigest": true, "ordinal": true, "subtype": true,
	"status": true, "stop_reason": true, "media_type": true, "base64": true, "commit_hash": true, "cli_version": true, "model_provider": true,
	"cacheControl": true, "thinkingSignature": true, "textSignature": true, "stopReason": true, "rawStopReason": true, "toolName": true, "customType": true, "mimeType": true, "api": true, "provider": true, "slug": true, "allUuids": true, "uuids": true, "backupFileName": true, "sourceToolAssistantUUID": true,
}

// freeForm are members in which a model or a tool, and not the client, says what is called how.
var freeForm = []string{"input", "arguments", "structuredContent", "structured_content"}

// free says whether a value stands in one of those.
func free(v *Value) bool {
	return len(v.Path) > 1 && slices.ContainsFunc(v.Path[:len(v.Path)-1], func(key string) bool { return slices.Contains(freeForm, key) })
}

// technical says whether a value is no text that somebody wrote.
func technical(v *Value) bool {
	key := v.Key()
	switch {
	case key == "", free(v):
		return false
	case key == "data" && v.Type == gjson.String:
		return blob(v.String())
	case technicalKeys[key], strings.HasSuffix(key, "_id"), strings.HasSuffix(key, "Id"), strings.HasSuffix(key, "Uuid"), strings.HasSuffix(key, "UUID"), strings.HasSuffix(key, "_ids"), strings.HasSuffix(key, "Hash"), strings.HasSuffix(key, "Digest"), strings.HasSuffix(key, "sha256"):
		return true
	case key == "name": // of a tool, but not of what a tool was asked about
		return len(v.Path) <= 3
	}
	return false
}

// base64Run is a run of base64 that is taken for data, and not for a secret or for what holds one.
var base64Run = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[A-Za-z0-9+/_=-]{256,}`) })

// blob says whether a text is data.
func blob(text string) bool {
	run := base64Run().FindStringIndex(text)
	return run != nil && run[0] < 64 && run[1] > len(text)-8
}

// collectIDs notes the ids of the session: what looks like a secret may be one that is spoken of.
func (r *Redaction) collectIDs() {
	for i := range r.s.Records {
		Walk(r.s.Records[i].Raw, func(v *Value) bool {
			key := v.Key()
			if v.Type == gjson.String && !free(v) && (key == "id" || key == "uuid" || strings.HasSuffix(key, "_id") || strings.HasSuffix(key, "Id") || strings.HasSuffix(key, "Uuid")) {
				r.ids[v.String()] = true
			}
			return true
		})
	}
}

// idForm is a uuid or a hash.
var idForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64})$`)
})

// guessed is the kind of the one rule that goes by the words in front of it alone.
const guessed = "generic-api-key"

// spared says whether what a rule has found is no secret: an id of the session, a hash, a part of data, or a placeholder.
func (r *Redaction) spared(f Secret, runs [][]int) bool {
	guess := f.Kind == guessed
	if strings.Contains(f.Value, redacted) || r.ids[f.Value] || guess && idForm().MatchString(f.Value) {
		return true
	}
	return slices.ContainsFunc(runs, func(run []int) bool {
		return f.Start >= run[0] && f.Start+len(f.Value) <= run[1] && len(f.Value) < run[1]-run[0]
	})
}

// collect finds the secrets.
func (r *Redaction) collect() {
	for secret, tag := range r.opts.Known {
		r.Secrets = append(r.Secrets, secret)
		r.Tags[secret] = tag
	}
	r.eachText(func(_ *session.Record, v *Value) { r.find(v.String()) })
	for i := range r.s.Records {
		if rec := &r.s.Records[i]; rec.Kind == session.Unreadable {
			r.find(string(rec.Raw))
		}
	}
}

// find finds those in a text.
func (r *Redaction) find(text string) {
	if blob(text) {
		return
	}
	runs := base64Run().FindAllStringIndex(text, -1)
	for _, f := range r.opts.Finder.Find(text) {
		if r.spared(f, runs) || r.Tags[f.Value] != "" {
			continue
		}
		r.Secrets = append(r.Secrets, f.Value)
		r.Tags[f.Value] = r.tag(f)
	}
}

// forgetData takes back guesses that stand in a longer run of data somewhere: each is a part of that which was clipped, and the data would
// be spoiled.
func (r *Redaction) forgetData() {
	isGuess := func(secret string) bool { return kindOf(r.Tags[secret]) == guessed && r.opts.Known[secret] == "" }
	if !slices.ContainsFunc(r.Secrets, isGuess) {
		return
	}
	data := map[string]bool{}
	r.eachText(func(_ *session.Record, v *Value) {
		for _, run := range base64Run().FindAllString(v.String(), -1) {
			for _, secret := range r.Secrets {
				if len(secret) < len(run) && isGuess(secret) && strings.Contains(run, secret) {
					data[secret] = true
				}
			}
		}
	})
	for secret := range data {
		delete(r.Tags, secret)
	}
	r.Secrets = slices.DeleteFunc(r.Secrets, func(secret string) bool { return data[secret] })
}

// tag is what stands in a secret's place: letters, digits and underscores only, so that no escaping changes it.
func (r *Redaction) tag(f Secret) string {
	h := hmac.New(sha256.New, r.opts.Salt)
	h.Write([]byte(f.Value))
	return redacted + strings.ReplaceAll(f.Kind, "-", "_") + "_" + hex.EncodeToString(h.Sum(nil)[:4])
}

// forms are a secret as it may stand in a text: as it is, and escaped once or twice as JSON in JSON has it.
func forms(secret string) []string {
	list := []string{secret}
	for range 2 {
		last := list[len(list)-1]
		quoted := string(Quote(last))
		if quoted = quoted[1 : len(quoted)-1]; quoted == last {
			break
		}
		list = append(list, quoted)
	}
	return list
}

// Pairs are what is to be replaced by what, one behind the other: each secret in each of its forms, the longest first.
func Pairs(tags map[string]string) (pairs []string) {
	for _, secret := range slices.SortedFunc(maps.Keys(tags), func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) }) {
		for _, form := range forms(secret) {
			pairs = append(pairs, form, tags[secret])
		}
	}
	return pairs
}

// replace plans the replacements, of each secret wherever it stands.
func (r *Redaction) replace() {
	g := r.Group("secret", "a secret; a placeholder stands in its place, the same for the same secret")
	pairs := Pairs(r.Tags)
	r.Says = func(text string) string {
		for i := 0; i < len(pairs); i += 2 {
			text = strings.ReplaceAll(text, pairs[i], pairs[i+1])
		}
		return text
	}
	cuts := map[*session.Record][]session.Cut{}
	var order []*session.Record
	r.eachText(func(rec *session.Record, v *Value) {
		if len(v.Raw) < 6 {
			return
		}
		out := v.String()
		for i := 0; i < len(pairs); i += 2 {
			if strings.Contains(out, pairs[i]) {
				r.Hits = append(r.Hits, Hit{Kind: kindOf(pairs[i+1]), Pos: rec.Pos, Path: strings.Join(v.Path, ".")})
				out = strings.ReplaceAll(out, pairs[i], pairs[i+1])
			}
		}
		switch {
		case out == v.String():
		case v.Key() == "thinking":
			r.Thinking[rec] = true
		default:
			if cuts[rec] == nil {
				order = append(order, rec)
			}
			cuts[rec] = append(cuts[rec], v.Instead(Quote(out)))
			r.Changed[rec] = true
		}
	})
	for _, rec := range order {
		g.Cut(rec, cuts[rec]...)
	}
	r.unreachable()
}

// unreachable takes out unreadable lines that hold a secret, and says where else one stays: in an id or a key.
func (r *Redaction) unreachable() {
	lines := r.Group("unreadable", "an unreadable line that holds a secret: nothing in it can be altered")
	places := 0
	for i := range r.s.Records {
		rec := &r.s.Records[i]
		if HeldBy(rec.Raw, r.Secrets) == 0 {
			continue
		}
		if rec.Kind == session.Unreadable {
			lines.Drop(rec)
			r.Hits = append(r.Hits, Hit{Kind: "unreadable", Pos: rec.Pos})
			continue
		}
		Walk(rec.Raw, func(v *Value) bool {
			stays := technical(v)
			if HeldBy([]byte(v.Key()), r.Secrets) > 0 || stays && HeldBy([]byte(v.Raw), r.Secrets) > 0 {
				places++
				return false
			}
			return !stays
		})
	}
	if places > 0 {
		r.Notes = append(r.Notes, "what is a secret elsewhere also stands in "+count(places, "place")+" where nothing is altered: ids, keys and names")
	}
}

// kindOf is the kind in a placeholder.
func kindOf(tag string) string {
	kind := strings.TrimPrefix(tag, redacted)
	if i := strings.LastIndexByte(kind, '_'); i > 0 {
		kind = kind[:i]
	}
	return strings.ReplaceAll(kind, "_", "-")
}

// First is the first record that the redaction changes, nil if it changes none.
func (r *Redaction) First() *session.Record {
	for i := range r.s.Records {
		if rec := &r.s.Records[i]; r.Changed[rec] || r.Thinking[rec] {
			return rec
		}
	}
	return nil
}

// HeldBy says which of the secrets stand in some bytes, in any form.
func HeldBy(data []byte, list []string) (n int) {
	for _, secret := range list {
		if slices.ContainsFunc(forms(secret), func(form string) bool { return bytes.Contains(data, []byte(form)) }) {
			n++
		}
	}
	return n
}
