package claude

// MaxDepth is 0: no measured client minds how deep an object is.
func (Decoder) MaxDepth() int { return 0 }

// IsName says whether a member of a session's records holds a name or an id.
func (Decoder) IsName(key []byte) bool {
	switch string(key) {
	case "type", "id", "role", "name", "status", "timestamp", "uuid", "parentUuid", "sessionId", "version", "tool_use_id", "requestId", "subtype":
		return true
	}
	return false
}
