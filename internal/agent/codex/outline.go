package codex

import "github.com/hist-cli/hist/internal/agent"

var outline = &agent.Outline{
	Values: agent.Set(
		"type", "timestamp", "id", "call_id", "turn_id", "thread_id", "session_id", "role", "status", "name", "reason", "phase",
		"history_mode", "cli_version", "originator", "source", "execution", "forked_from_id",
	),
	Keys: agent.Set(
		"payload", "ordinal", "content", "text", "output", "arguments", "input", "item", "message", "summary", "encrypted_content",
		"error", "metadata", "cwd", "base_instructions", "model_provider", "instructions", "last_agent_message", "info", "rate_limits",
		"namespace", "internal_chat_message_metadata_passthrough", "replacement_history", "action", "tools",
	),
	Types: agent.Set(
		"input_text", "output_text", "input_image", "input_audio", "summary_text", "reasoning_text", "message", "reasoning",
		"function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output", "local_shell_call", "compaction",
		"exec", "search",
	),
	Body: "payload",
}
