package main

import _ "embed" // of the text below

// tail is what the figures don't say by themselves.
//
//go:embed tail.md
var tail string
