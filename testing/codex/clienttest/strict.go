package clienttest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hist-cli/hist/internal/api"
)

// inputItem is what the API looks at in an item of a request.
type inputItem struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	CallID    string          `json:"call_id"`
	Arguments *string         `json:"arguments"`
	Content   json.RawMessage `json:"content"`
	Output    json.RawMessage `json:"output"`
	Encrypted *string         `json:"encrypted_content"`
}

// Refusal is what the API answers with 400 to such an input, "" if it takes it. The words are those that users of
// clients have reported.
func Refusal(input []json.RawMessage) string {
	calls, ids := map[string]string{}, map[string]bool{}
	var before inputItem
	for i, raw := range input {
		var it inputItem
		if err := json.Unmarshal(raw, &it); err != nil {
			return fmt.Sprintf("Invalid 'input[%d]'.", i)
		}
		if it.sealedElsewhere() {
			return fmt.Sprintf("The encrypted content %s could not be verified.", *it.Encrypted)
		}
		if faults := api.Check(raw, "openai", ""); len(faults) > 0 {
			return fmt.Sprintf("Invalid 'input[%d].%s': %s.", i, faults[0].Path, faults[0].What)
		}
		if text := it.refused(i, ids); text != "" {
			return text
		}
		if text := it.parted(before); text != "" {
			return text
		}
		before = it
		switch call, output := strings.HasSuffix(it.Type, "_call"), strings.HasSuffix(it.Type, "_call_output"); {
		case call && it.CallID != "":
			calls[it.CallID] = it.Type
		case output && calls[it.CallID] == "":
			return fmt.Sprintf("No tool call found for function call output with call_id %s.", it.CallID)
		case output && calls[it.CallID] == "answered":
			return fmt.Sprintf("Duplicate output for call_id %s.", it.CallID)
		case output:
			calls[it.CallID] = "answered"
		}
	}
	if text := (inputItem{}).parted(before); text != "" {
		return text
	}
	for id, state := range calls {
		if state != "answered" {
			return fmt.Sprintf("No tool output found for function call %s.", id)
		}
	}
	return ""
}

// needs is how the ids of fixtures tell which reasoning led to an item, as the API knows it of its own: msg_needs_rs_1
// wants rs_1 in front of it, and rs_of_1 some item behind it.
const needs, followed = "_needs_", "rs_of"

// parted is what the API says of an item that lacks its reasoning in front of it, or of that reasoning.
func (it inputItem) parted(before inputItem) string {
	if _, want, ok := strings.Cut(it.ID, needs); ok && before.ID != want {
		return fmt.Sprintf("Item '%s' of type '%s' was provided without its required 'reasoning' item: '%s'.", it.ID, it.Type, want)
	}
	if strings.HasPrefix(before.ID, followed) && it.Type != "message" && !strings.HasSuffix(it.Type, "_call") {
		return fmt.Sprintf("Item '%s' of type 'reasoning' was provided without its required following item.", before.ID)
	}
	return ""
}

// refused is what the API says of a single item beyond what the tables say.
func (it inputItem) refused(i int, ids map[string]bool) string {
	switch {
	case it.ID != "" && ids[it.ID]:
		return fmt.Sprintf("Duplicate item found with id %s.", it.ID)
	case it.Type == "message" && string(it.Content) == "[]", strings.HasSuffix(it.Type, "_output") && string(it.Output) == "[]":
		return fmt.Sprintf("Invalid 'input[%d].content': empty array. Expected an array with minimum length 1, but got an empty array instead.", i)
	case it.Arguments != nil && !json.Valid([]byte(*it.Arguments)):
		return fmt.Sprintf("Invalid 'input[%d].arguments': arguments must be valid JSON.", i)
	case badImage(it.Content) || badImage(it.Output):
		return "Invalid image in your last message. Please remove it and try again."
	}
	ids[it.ID] = true
	return ""
}

// sealedElsewhere says whether what is encrypted in an item is not the API's own, or another account's.
func (it inputItem) sealedElsewhere() bool {
	return it.Encrypted != nil && (*it.Encrypted != "" && !strings.HasPrefix(*it.Encrypted, "gAAAA") || strings.HasPrefix(*it.Encrypted, otherAccount))
}

// otherAccount begins what fixtures hold encrypted for an account that is not the one that asks.
const otherAccount = "gAAAAABvdGhlc"

// badImage says whether a list of content has an image that is neither of the web nor one that decodes.
func badImage(content json.RawMessage) bool {
	var parts []struct {
		Type string `json:"type"`
		URL  string `json:"image_url"`
	}
	if json.Unmarshal(content, &parts) != nil {
		return false
	}
	for _, p := range parts {
		kind, data, inline := strings.Cut(p.URL, ";base64,")
		if p.Type != "input_image" || strings.HasPrefix(kind, "https:") {
			continue
		}
		raw, err := base64.StdEncoding.DecodeString(data)
		if !inline || err != nil || len(raw) == 0 || !strings.Contains("data:image/png data:image/jpeg data:image/gif data:image/webp", kind) {
			return true
		}
	}
	return false
}
