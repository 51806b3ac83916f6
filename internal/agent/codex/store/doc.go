// Package store knows what Codex keeps beside its rollouts that points into them: the projection of paginated
// threads in thread_history_1.sqlite, and the forks and reverts whose history_base names bytes of another rollout.
//
// In: a home and a rollout's id. Out: who depends on the rollout, and a projection that its client builds anew.
//
// Never here: creating or migrating a database, and any write to a rollout.
package store
