package main

// tail is what the figures don't say by themselves. It is true of the run that docs/benchmarks.md was written by.
const tail = ""
