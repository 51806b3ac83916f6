package session

import (
	"cmp"
	"maps"
	"slices"
)

// Turns tells which records begin a turn. Clients that do not write where one begins let a prompt begin it. The zero
// value is at the beginning of a session.
type Turns struct {
	written bool // the client writes where turns begin
}

// See takes the next record into account and notes in it whether a turn begins with it.
func (t *Turns) See(rec *Record) {
	t.written = t.written || rec.Kind == TurnStart
	rec.Begins = rec.Kind == TurnStart || rec.Kind == Message && rec.Boundary && !t.written
}

// Written says whether the client has written where a turn begins, up to here.
func (t *Turns) Written() bool { return t.written }

// OpenCalls are the calls of a turn whose outputs have not come, each with what its reader wants to know of it. An output
// answers only calls of its own family. The zero value holds none.
type OpenCalls[T any] struct {
	open map[callKey]openCall[T]
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
func (o *OpenCalls[T]) Len() int { return len(o.open) }

// Open notes a call. What was noted of an open one with the same id is returned: no output will tell the two apart.
func (o *OpenCalls[T]) Open(call *Record, what T) (twin T, had bool) {
	if o.open == nil {
		o.open = map[callKey]openCall[T]{}
	}
	key := callKey{call.Family, string(call.CallID)}
	before, had := o.open[key]
	o.open[key] = openCall[T]{o.next, what}
	o.next++
	return before.what, had
}

// Answer takes the call out that an output answers, and returns what was noted of it.
func (o *OpenCalls[T]) Answer(output *Record) (what T, ok bool) {
	if len(o.open) == 0 {
		return what, false
	}
	key := callKey{output.Family, string(output.CallID)}
	call, ok := o.open[key]
	delete(o.open, key)
	return call.what, ok
}

// Told are the open calls that an event is about: it has an id, and may not say of which family.
func (o *OpenCalls[T]) Told(event *Record) []T {
	var list []T
	for _, family := range []Family{Function, Custom} {
		if call, ok := o.open[callKey{family, string(event.CallID)}]; ok {
			list = append(list, call.what)
		}
	}
	return list
}

// All are the open calls in the order in which they came.
func (o *OpenCalls[T]) All() []T {
	var list []T
	for _, call := range slices.SortedFunc(maps.Values(o.open), func(a, b openCall[T]) int { return cmp.Compare(a.number, b.number) }) {
		list = append(list, call.what)
	}
	return list
}

// Clear forgets the open calls: no output of theirs will come any more.
func (o *OpenCalls[T]) Clear() { clear(o.open) }
