// Package surgery is what a user does with a healthy session besides repairing it: make it smaller, cut it, take secrets out. An
// operation looks at a session and answers with a list of changes; it writes nothing. Package repair takes the changes the same way
// to a file as it takes those of rules, and two readings prove what they do to what the model is sent.
package surgery
