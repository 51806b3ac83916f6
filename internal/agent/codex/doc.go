// Package codex knows how OpenAI's Codex CLI writes its sessions ("rollouts"): what a line means, how a new
// line must look so that the client takes it for its own, and what each version sends of a session.
//
// In come lines, out go session.Records and new lines. Files, locks and databases are the packages below; what is
// wrong with a session is for lint, what to do about it for repair.
package codex
