package beside

import (
	"bytes"
	"context"
	"fmt"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/codex/home"
	"github.com/hist-cli/hist/internal/agent/codex/rules"
	"github.com/hist-cli/hist/internal/format"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
)

// unprovided reports that the client does not know the model provider with which a session goes on. It takes that from the thread's row,
// or where there is none from the session's last settings, or its header; where the history is kept in the old form, the header
// must be right, too. A session of which nothing says it goes on with the provider of config.toml only if it was there before the client
// made its list, or in codex exec (measured with 0.145.0 and 0.171.0).
func (h *Home) unprovided(ctx context.Context, src *source.Source, res *lint.Result, thread string) ([]lint.Finding, error) {
	known, standard := h.providers()
	index, err := h.index()
	if err != nil || known == nil {
		return nil, err
	}
	row, listed := index[thread]
	begun, goesOn := res.Summary.Header.Provider, row.Provider
	if goesOn == "" && !known[begun] && !row.Unprovided {
		goesOn = lastProvider(ctx, src)
	}
	if row.Unprovided || !listed && index != nil && begun == "" && goesOn == "" {
		return missing(h.dir, "nothing that the client goes by names a model provider for this session: but in codex exec, the client refuses it (Model provider `` not found) unless one is given on its command line"), nil
	}
	list := []string{goesOn}
	if goesOn == "" || !res.Summary.Header.Paginated() {
		list = append(list, begun)
	}
	for _, name := range list {
		if name != "" && !known[name] {
			return missing(h.dir, fmt.Sprintf("config.toml has no model provider %q, with which the client would go on with this session: from 0.169 on it refuses to unless the provider is given on its command line", name)), nil
		}
	}
	if goesOn == "" || standard == "" || goesOn == standard {
		return nil, nil
	}
	f := ofFile(rules.ProviderMissing, fmt.Sprintf("the model provider of this session is %q, and that of config.toml is %q: codex exec resume refuses it (0.171) unless it gets %s", goesOn, standard, format.Command("-c", "model_provider="+goesOn)))
	f.Impact, f.Fix = lint.Notes, lint.NoFix
	return []lint.Finding{f}, nil
}

func missing(dir, what string) []lint.Finding {
	f := ofFile(rules.ProviderMissing, what+" (codex fork SESSION makes a thread of its own, with the provider of config.toml); older ones need -c model_provider=NAME at a terminal")
	f.Beside = home.Config(dir)
	return []lint.Finding{f}
}

// lastProvider is the model provider in the last settings of a session, "" if it has none.
func lastProvider(ctx context.Context, src *source.Source) (name string) {
	for line := range linesOf(ctx, src) {
		if bytes.Contains(line.Raw, []byte(`"thread_settings_applied"`)) {
			if v := gjson.GetBytes(line.Raw, "payload.thread_settings.model_provider_id"); v.Type == gjson.String {
				name = v.String()
			}
		}
	}
	return name
}
