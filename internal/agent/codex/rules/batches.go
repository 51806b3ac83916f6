package rules

import "strings"

// In a session of short records, a good part of the time goes into making one small thing for each call or event, most of which are
// forgotten a few records later. So they are made several at a time.

// batch makes Ts, several at a time. They are freed together, once none of them is in use.
type batch[T any] struct{ made []T }

// batchSize is how many are made at a time: what one of them keeps from being freed must stay small.
const batchSize = 8

// one is a new T.
func (b *batch[T]) one() *T {
	if len(b.made) == 0 {
		b.made = make([]T, batchSize)
	}
	t := &b.made[0]
	b.made = b.made[1:]
	return t
}

// batchBytes is how many bytes of texts are made at a time.
const batchBytes = 1 << 10

// textBatch makes strings, several at a time.
type textBatch struct{ made strings.Builder }

// of is a copy of a text.
func (b *textBatch) of(text []byte) string {
	if len(text) > batchBytes/4 {
		return string(text)
	}
	if b.made.Len()+len(text) > b.made.Cap() {
		b.made = strings.Builder{}
		b.made.Grow(batchBytes)
	}
	at := b.made.Len()
	b.made.Write(text)
	return b.made.String()[at:]
}
