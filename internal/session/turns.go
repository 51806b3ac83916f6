package session

import (
	"cmp"
	"maps"
	"slices"
)

// Turns finds the records that begin a turn. If the client does not write where turns begin, a prompt begins one. The zero
// value is ready for the first record of a session.
type Turns struct {
	written bool // the client writes where turns begin
}

// See takes the next record and sets its Begins.
func (t *Turns) See(rec *Record) {
	t.written = t.written || rec.Kind == TurnStart
	rec.Begins = rec.Kind == TurnStart || rec.Kind == Message && rec.Boundary && !t.written
}

// Written says whether the client has written, in the records seen so far, where a turn begins.
func (t *Turns) Written() bool { return t.written }

// OpenCalls are the calls of a turn whose outputs have not come yet, each with a T that the caller keeps for it. An output
// answers only calls of its own family. The zero value holds no call.
type OpenCalls[T any] struct {
	// Most calls are answered before the next one is made. So as long as only one is open it is held here: that needs no
	// map, and no string for its id.
	alone  bool
	family Family
	id     []byte
	one    openCall[T]

	open map[callKey]openCall[T] // all of them as soon as there are several
	next int
}

type callKey struct {
	family Family
	id     string
}

type openCall[T any] struct {
	number int
	what   T
}

// Len is how many calls are open.
func (o *OpenCalls[T]) Len() int {
	if o.alone {
		return 1
	}
	return len(o.open)
}

// isOne says whether a record is, or answers, the only open call.
func (o *OpenCalls[T]) isOne(rec *Record) bool {
	return o.alone && o.family == rec.Family && string(o.id) == string(rec.CallID)
}

// Open adds a call. If one with the same id is open it is replaced, and its T is returned as twin: no output can tell the
// two apart.
func (o *OpenCalls[T]) Open(call *Record, what T) (twin T, had bool) {
	made := openCall[T]{o.next, what}
	o.next++
	if o.Len() == 0 || o.isOne(call) {
		twin, had = o.one.what, o.alone
		o.alone, o.family, o.id, o.one = true, call.Family, append(o.id[:0], call.CallID...), made
		return twin, had
	}
	if o.open == nil {
		o.open = map[callKey]openCall[T]{}
	}
	if o.alone {
		o.open[callKey{o.family, string(o.id)}] = o.one
		o.forgetOne()
	}
	key := callKey{call.Family, string(call.CallID)}
	before, had := o.open[key]
	o.open[key] = made
	return before.what, had
}

func (o *OpenCalls[T]) forgetOne() { o.alone, o.one = false, openCall[T]{} }

// Answer removes the call that an output answers, and returns its T.
func (o *OpenCalls[T]) Answer(output *Record) (what T, ok bool) {
	if o.isOne(output) {
		what = o.one.what
		o.forgetOne()
		return what, true
	}
	if len(o.open) == 0 {
		return what, false
	}
	key := callKey{output.Family, string(output.CallID)}
	call, ok := o.open[key]
	delete(o.open, key)
	return call.what, ok
}

// Told returns the open calls that an event may be about. An event has the id of a call but may not name its family.
func (o *OpenCalls[T]) Told(event *Record) []T {
	var list []T
	if o.alone && (o.family == Function || o.family == Custom) && string(o.id) == string(event.CallID) {
		return append(list, o.one.what)
	}
	if len(o.open) == 0 {
		return nil
	}
	for _, family := range []Family{Function, Custom} {
		if call, ok := o.open[callKey{family, string(event.CallID)}]; ok {
			list = append(list, call.what)
		}
	}
	return list
}

// All returns the open calls in the order in which they came.
func (o *OpenCalls[T]) All() []T {
	var list []T
	if o.alone {
		return append(list, o.one.what)
	}
	for _, call := range slices.SortedFunc(maps.Values(o.open), func(a, b openCall[T]) int { return cmp.Compare(a.number, b.number) }) {
		list = append(list, call.what)
	}
	return list
}

// Clear forgets the open calls, when no output for them can come any more.
func (o *OpenCalls[T]) Clear() {
	o.forgetOne()
	clear(o.open)
}
