package main

import _ "embed" // of the text below

// tail explains what the figures alone don't show.
//
//go:embed tail.md
var tail string
