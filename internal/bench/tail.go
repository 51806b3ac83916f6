package main

// tail is what the figures don't say by themselves.
const tail = `
## Why some goals are not met

- Against gjson and jq, and pre-resume of 10 MB: a profile of lint on ordinary lines has about 45 % in the scanner, 15 % in
  reading, 10 % in decoding records, and the rest in the rules, of which pairing calls costs most. Below the scanner it is
  the cost of a record, not of a byte: on lines of half a kilobyte lint is at 600 MB/s, on lines with images at several GB/s.
  Tried: hashes instead of texts, no parsing of contents that the client wrote itself, spans instead of copies (a session
  with images went from 1.9 s to 0.5 s). What is left is five allocations a record.
- On all processors: scanning alone runs beside the rules, so that two processors gain at most what the scanner takes; eight
  files at once contend with their own scanners for the same two.
- Repair reads the session twice, the copy once, and hashes both; the rewrite still scans lines that no edit touches. Tried:
  hashing beside the first look, scanning ahead while rewriting (1.47 s to 1.16 s for 200 MB). Copying untouched ranges in
  blocks would spare one of the scans.
- Against ` + "`cat`" + `: starting the program takes 4 ms of it, three times as long as cat takes for all.
`
