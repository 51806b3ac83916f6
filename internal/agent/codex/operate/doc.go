// Package operate knows what may be changed in a healthy rollout: which records a client needs, where a session can end, and in what
// shape the client itself would write it. All of it was measured with real clients.
package operate
