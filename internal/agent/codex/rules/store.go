package rules

var (
	ProjectionStale = &Rule{
		Name: "projection-stale", Family: "store", Impact: Shows, Fix: Exact, Home: true,
		Title: "the client's view of the session points where nothing begins",
		Text: `Of a paginated session the client keeps a view in thread_history_1.sqlite: how many bytes it has read, and which turn begins where. After a change of the file by anybody else it is not built again: ` +
			`turns stay listed that are gone, or the view is stuck past the end of the file (measured with 0.169.0). What the model is sent does not hang on it. ` +
			`Repair in place keeps a copy of the session's rows in the run's record and clears them; the client builds them again at the next resume, and an undo brings back what they were.`,
	}
	IndexMissing = &Rule{
		Name: "index-missing", Family: "store", Impact: Notes, Fix: NoFix, Home: true,
		Title: "the client's list of threads does not know the session",
		Text:  `The client lists its threads in state_5.sqlite, and shows that list when it is asked what to resume. A session that is not in it resumes by its id all the same, and the client then adds it (measured with 0.114.0, 0.145.0 and 0.169.0).`,
	}
	IndexStale = &Rule{
		Name: "index-stale", Family: "store", Impact: Notes, Fix: NoFix, Home: true,
		Title: "the client's list of threads names a file that is not there",
		Text: `state_5.sqlite keeps the absolute path of each thread's session. For a session that was removed the row is only noted. ` +
			`One that was moved by hand 0.145.0 and 0.169.0 do not find any more ("failed to resolve rollout path", "no rollout found for thread id"), although it lies in sessions; 0.114.0 does (measured). Move it back. ` +
			`Of a home that was copied the client resumes the files under their old paths as long as those are there.`,
	}
	DuplicateThread = &Rule{
		Name: "duplicate-thread", Family: "store", Impact: Notes, Fix: NoFix, Home: true,
		Title: "two files carry the same thread",
		Text: `A copy, a file that is archived and active, or a compressed file beside its plain one. The client takes one of them and never looks at the other: the plain one before the compressed, the active one before the archived; ` +
			`of two active ones 0.145.0 and 0.169.0 the one with the later name, 0.79.0 and 0.114.0 the one with the earlier (measured). After a revert two files of one thread are normal.`,
	}
	BrokenLineage = &Rule{
		Name: "broken-lineage", Family: "store", Impact: Blocks, Fix: NoFix, Home: true,
		Title: "a fork whose ancestor is not what it relies on",
		Text: `A fork of a paginated session holds only its own records; history_base in its header says which rollout it continues, and up to which byte. If that rollout is gone, is shorter, is not paginated, or leads back in a circle, ` +
			`the client refuses ("missing source rollout", "cutoff byte offset is past the source rollout", "source rollout is not paginated", "cycle detected"). ` +
			`At an offset inside a line it resumes and drops that record (all measured with 0.169.0). Bring the ancestor back from a backup or the archive.`,
	}
	ContextLost = &Rule{
		Name: "context-lost", Family: "store", Impact: Notes, Fix: NoFix, Home: true,
		Title: "a new thread was begun in the place of one whose last turn went wrong",
		Text: `A wrapper that is restarted after a failure, or forgets its thread, begins a new one, and the model knows nothing of what was said. ` +
			`Told where a thread's last turn failed, never ended or got no answer, and within half an hour the same prompt was asked again in an empty thread, in the same directory and by the same kind of client. ` +
			`The old thread is whole: resume it.`,
	}
	Repaired = &Rule{
		Name: "repaired", Family: "store", Impact: Notes, Fix: NoFix, Home: true,
		Title: "a damaged session of which a repaired copy stands",
		Text: `Repair leaves the original as it is and makes a copy that resumes. As long as the original has the bytes that were repaired, and the copy is there, what is wrong with the original matters no more: ` +
			`this note stands in the place of its findings and names the copy. If the original changes, if the copy is removed, or if the repair is taken back, its findings are told again.`,
	}
	InUse = &Rule{
		Name: "in-use", Family: "store", Impact: Notes, Fix: NoFix, Home: true,
		Title: "somebody uses the session now",
		Text:  `A client holds the session's lock, or a process has the file open. It is linted as it stands; repair refuses it with exit code 4 until it is free.`,
	}
	// StoreRules are the rules about what lies beside a session.
	StoreRules = []*Rule{
		ProjectionStale, ruleLostRecords, IndexMissing, IndexStale, DuplicateThread, BrokenLineage, ContextLost, Repaired, InUse,
	}
)
