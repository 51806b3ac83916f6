// Package api knows what the model APIs accept, and what they say when they refuse.
//
// In: the text of an error, an item of a request, or all items that a client sends (session.Sent). Out: what the error means, the
// items that it is about, what is wrong with an item, and the cuts that mend it. Its tables are made by testing/api; nothing of
// them is in code. An image is checked by its URL, inline or not: its data are read once, and no pixel is decoded.
//
// Never here: which record of a file that is, what a client does with it, the words of a rule.
package api
