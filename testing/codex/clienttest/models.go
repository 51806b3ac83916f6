package clienttest

// ModelFor is a model that a client knows, so that it offers the tools which it has for it: a client that does not
// know its model falls back to a few.
func ModelFor(version string) string {
	if versionLess(version, "0.129.0") {
		return "gpt-5.1-codex"
	}
	return "gpt-5.5"
}

// CodeModelFor is a model that a client drives in code mode: its one tool is exec, and what it runs is JavaScript that
// calls the other tools. Empty if the client knows none.
func CodeModelFor(version string) string {
	switch {
	case versionLess(version, "0.150.0"):
		return ""
	case versionLess(version, "0.160.0"):
		return "gpt-5.6-sol"
	}
	return "gpt-6-sol"
}

// HasFront says whether a client can be driven as [Home.App] does.
func HasFront(version string) bool { return !versionLess(version, "0.114.0") }
