package codex

// MaxDepth is that of the client's JSON reader (serde_json: 128 levels, itself included).
func (Decoder) MaxDepth() int { return 127 }

// IsName says whether a member of a rollout's records holds a name or an id.
func (Decoder) IsName(key []byte) bool {
	switch string(key) {
	case "type", "id", "call_id", "turn_id", "thread_id", "role", "name", "status", "namespace", "timestamp", "phase", "execution", "cli_version", "originator":
		return true
	}
	return false
}
