// Package clienttest drives the real Claude Code on loopback, for tests: a home of its own, a stand-in for the Messages
// API that answers from a script, and the published rules of that API as a check of what the client sends.
//
// In: a version of the client and the files of a home. Out: what the client answered, and the requests it sent.
// Never here: anything that the program itself uses, and any address but 127.0.0.1.
package clienttest
