package pi

import "github.com/hist-cli/hist/internal/agent"

// outline is what may be shown of records where their text may not be: what belongs to pi's format.
var outline = &agent.Outline{
	Values: agent.Set(
		"type", "id", "parentId", "firstKeptEntryId", "targetId", "fromId", "timestamp", "role", "provider", "modelId", "model", "api", "stopReason",
		"toolCallId", "toolName", "thinkingLevel", "customType",
	),
	Keys:  agent.Set("message", "content", "text", "thinking", "arguments", "usage", "cost", "summary", "details", "isError", "errorMessage", "version", "cwd"),
	Types: agent.Set("text", "thinking", "toolCall", "image"),
	Body:  "message",
}
