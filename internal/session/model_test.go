package session

import "testing"

// TestBindsThinking: the models that are known to bind their thinking do, and none from before them; of what is newer than is known it is taken for so.
func TestBindsThinking(t *testing.T) {
	for model, want := range map[string]bool{
		"claude-fable-5-1": true, "claude-mythos-5-1": true, "claude-opus-5-5": true, "claude-sonnet-5-5": true, "claude-haiku-5-5": true, "us.anthropic.claude-opus-6-v1:0": true,
		"claude-opus-4-8": false, "claude-sonnet-4-20250514": false, "claude-3-7-sonnet-20250219": false, "gpt-5.1-codex": false, "<synthetic>": false,
	} {
		if BindsThinking(model) != want {
			t.Errorf("%s: %t", model, !want)
		}
	}
}
