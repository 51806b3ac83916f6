package claude

import "github.com/hist-cli/hist/internal/agent"

var outline = &agent.Outline{
	Values: agent.Set(
		"type", "uuid", "parentUuid", "logicalParentUuid", "sourceToolAssistantUUID", "leafUuid", "messageId", "sessionId", "promptId", "requestId",
		"timestamp", "version", "userType", "entrypoint", "subtype", "level", "operation", "role", "id", "model", "stop_reason",
	),
	Keys: agent.Set(
		"isSidechain", "isMeta", "isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage", "isSnapshotUpdate", "cwd", "gitBranch", "slug",
		"message", "content", "text", "thinking", "signature", "input", "name", "tool_use_id", "is_error", "source", "media_type", "data", "usage",
		"stop_sequence", "stop_details", "context_management", "diagnostics", "toolUseResult", "compactMetadata", "summary", "lastPrompt", "snapshot",
		"permissionMode", "attachment", "explicit",
	),
	Types: agent.Set("text", "thinking", "redacted_thinking", "tool_use", "tool_result", "image", "document", "base64", "message"),
	Body:  "message",
}
