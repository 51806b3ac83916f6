package main

// tail is what the figures don't say by themselves.
const tail = `
## What is left on the hot path

A profile of lint of the session without images, on one processor (` + "`go test ./lint -bench . -cpuprofile`" + ` makes others):

| where | share |
|---|---|
| the scanner, inside strings: quotes, escapes, control characters | 15 % |
| the scanner, UTF-8 of lines that have other bytes than ASCII | 8 % |
| the scanner, keys and the rest of the grammar | 11 % |
| reading, and cutting into lines | 20 % |
| hashes of texts that stand in the file twice, and of ids | 13 % |
| pairing calls and outputs, arguments among them, without their hashes | 9 % |
| all other rules, decoding of records, the collector | 24 % |

The inside of strings and UTF-8 took 38 and 11 % before they were looked at 32 bytes at a time: see the end of this page.
A record costs two allocations. On short lines it is the keys and the rules that cost, not the bytes.

## Why some goals are not met

From run to run some figures lie on both sides of their goal: eight files on two processors 1.4 to 1.9 ×, one file
1.5 to 2.0 ×, ` + "`jq`" + ` 7.8 to 11.2 ×. The same program started twice side by side takes 1.08 times as long as once, so that more than 1.85 × can't be
had here; each file is linted by one goroutine, and they share nothing.

- ` + "`jq`" + `: a line of 20 MB is read, scanned and looked through for its image one after the other, which leaves the other
  processor idle for some 10 ms each. Its data is looked at by two goroutines now, and no longer searched for escapes, and
  the way of so long a line is not learned: the mixed session on all processors takes 0.90 × the time (15 pairs, 0.79 to
  1.12), one of little else than such lines 0.70 × (15 pairs, 0.52 to 1.93). ` + "`jq`" + ` then took 10.4 × as long (4 pairs, 9.6 to 11.7, while
  others worked; by its row above it is to be measured again on the idle machine). Tried: blocks of 128 KiB to 1 MiB, fourteen
  of them on their way instead of six (1.00 ×, 25 pairs), and no garbage collection; none of that tells.
- Repair lints the session, writes the copy, and lints that as well while the disk takes it. Twice lint is two thirds of
  the goal, and both take all processors. Between them one SHA-256 has to go over the bytes, which takes as long as lint
  does and can't be divided, with the writing beside it. Tried, and kept: sound lines are copied in blocks instead of being
  scanned once more (0.45 s to 0.19 s); one sum serves for session, copy and untouched lines as long as they are the same
  (0.73 s to 0.53 s); the disk works while the copy is checked. It did not, though it was said here: the run's record and what
  is set aside were synced in front of the check, and a file system with a journal brings the whole copy to the disk before
  them. They are synced behind it now, still in front of the rename: 0.93 × the time for 262 MB (9 pairs, 0.77 to 1.01). The
  goroutine that takes the sum had to be woken for each 256 KiB; with a few of them at hand the copying alone takes 0.23 s
  where it took 0.29 s, and the repair 0.97 × (13 pairs, 0.76 to 1.12). Both together: 0.85 × (11 pairs, 0.68 to 1.00), which is 2.5 × lint
  (9 pairs, 1.8 to 2.9) and 3.5 × dd (9 pairs, 2.9 to 4.2). Where the first line changes, as for a new thread, there
  are three sums. To copy inside of the kernel is no help where every byte is to be hashed. On a fast
  disk dd takes a quarter of the repair's time, on a slow one as much.
  No slower than dd was hoped for. On a fast disk that is out of reach: for 262 MB one sum alone takes 0.2 to 0.28 s of processor time, as
  long as dd takes, and lint, twice, 0.4 to 0.55 s each: all in all 1.2 s, which is 0.6 s at least on these two processors, where it takes 0.8 to 1.1.
  To check the copy while it is still being written would close some of that gap, and leave the disk idle at the beginning;
  to look at less of it than all would no longer be a check. Tried in vain: a fast hash of the untouched lines that takes
  4 KiB at a time (1.00 ×, 13 pairs; 0.97 × in processor time).
- Against ` + "`cat`" + ` five times was aimed at, before anything was measured. Starting the program takes 8 ms, more than twice as long as
  cat takes for all; half of that is libraries setting themselves up (SQLite, help pages). To lint 10 MB takes 5 ms more once all is warm, and about as long again for memory
  that is touched for the first time. A look at the tail alone, as for sessions of more than 24 MiB, would not be sound:
  damage in the middle is what a client forgets without a word.

## A home of ten thousand sessions

CPU seconds, user and system, of ` + "`" + `hist lint` + "`" + ` over a whole home on 2026-11-22, beside other work (load 12 to 20): they are
for comparison with each other. The home of Codex has 900 MB in sessions of all lengths, that of Claude Code 127 MB in
recordings, damaged ones among them.

| home | with an empty cache | with a full one | the same before 2026-11-22 |
|---|---|---|---|
| Codex, 10 000 sound sessions | 24.0 | 1.6 | 12.2 |
| Codex, 1 074 damaged sessions | 13.4 | 0.3 | 10.4 |
| Claude Code, 10 000 sessions | 11.3 | 1.1 | none was kept |

That home of Codex had no database. Where a client has made one, what it says of each session is compared, and the database was
opened, and the client's config read, anew for each: with a full cache 10 000 sound sessions (920 MB) took 7.1 s, and take 0.97 s over
one connection (one run each; 15.5 s without a cache). With the paths of a directory looked at once it is 0.90 × of that (9 pairs, 0.85
to 1.17), some twentieth of a lint without a cache. Tried in vain: the lock and migration files of all sessions learned from a list of
their directories (1.09 ×, 15 pairs, 0.61 to 1.31); 16 KB instead of 64 KB of a tail to begin a glance with (1.00 ×, 5 pairs). Without a cache
two fifths of the time are the glances at heads and tails that tell whether a thread was begun in the place of another.

` + "`" + `find` + "`" + ` with a look at each file takes 0.03 s for the 10 000. What is asked anew each time is whether a session is in use, with
a lease and a look at its lock: once now, where it was twice, and for all sessions of a directory together where a migration
would show. 9 pairs with full caches over another 10 000 sound sessions (846 MB): 0.65 s where it was 1.46 s, 0.44 × (0.41 to 0.61); without a
cache the same take 12.1 s in one run, so a full one saves about nineteen twentieths. 40 × less was hoped for.

Of a session that is known only its name is looked at now (one ` + "`" + `lstat` + "`" + ` for what was found, one ` + "`" + `stat` + "`" + ` for the glance), and then who has it open,
which takes an open and two questions about the lease. The locks and the journals of migrations are read from the list of their directories, once a
second; who opens a session within that second is seen by the open file. The client's config is read once for all sessions. Another 10 000 sound
sessions (768 MB) take 0.70 × of what they took (0.50 s where it was 0.69 s; 11 pairs, 0.59 to 0.77; a second time 0.68 ×, 11 pairs, 0.56 to 0.82), at
a load of 5 to 10; without a cache they took 16.1 s in one run, 32 times as much. Of what is left 27 % are the questions that the system is asked, an
eighth is the walk, which is made twice; the rest is spread over names, hashes and reading the cache. Damaged sessions without a
cache are dear because what they have lost is looked for in up to 4 096 other sessions each.

Since then the glances, which were 64 % of a lint without a cache, decode no more of a session than what was asked and how its last turn ended:
over 10 000 sound sessions of 134 KB on average (1.34 GB) that takes 0.57 × the CPU time it took (3 pairs, 0.56 to 0.58, at a load of 10 to 15).
With a full cache they took 0.34 s where they took 18.7 s without one, 52 × as much (one run and two, load 8); with the cheaper glances 0.58 s
(7 runs) where they take 15.9 s (one run, at a load of 12), 28 × as much: 40 × is not reached because a lint without a cache
has become cheaper, not because one with a cache takes longer. Nothing stands out in what is left of that: a third is the system, most of it the
open, the lease and the close of each session; 9 % making garbage, 6 % collecting it, and no function of hist's own has 4 %. Tried, with little to
show for it: a directory read for its second session instead of its ninth, a lease given back by the close alone, and one text for all that is
kept of a session (together 0.98 ×, 11 pairs, 0.75 to 1.17).

` + "`" + `hist watch` + "`" + ` over the 10 000 sessions took no CPU time in 30 s in which nothing changed (to the hundredth of a second), and 20 MB.

## Short records, and Claude Code

One processor, user and system time, in pairs on 2026-11-22 beside other work (load about 10), as medians of the ratios of the pairs. What
a scanner has learned is whole lines now, and no longer keys: see internal/jsonl/template.go.

| session | against the gjson pipeline before | now | hoped for |
|---|---|---|---|
| short texts (15 pairs) | 1.3 × | 1.5 × | 2.2 × |
| mixed (5 pairs; before: 1) | 2.4 × | 2.7 × | 3 × |

By the fastest runs short texts are at 1.7 ×; on the idle machine of the first table it was 2.1 ×. Two profiles at different load, a rough
split: of the time on short texts the scanner took 37 % before, and takes 30 % of what is left; Codex's checkers of calls and of
items took 14 and 15 %, and take 17 and 16 %; reading and cutting into lines 8 %.

Tried in vain: a profile for the compiler makes short texts 7 % faster, long ones not, and a build takes two minutes: not kept. Giving up on
lines that often leave the ways known made the work grow in jumps: they are tried always. Collecting garbage a quarter as
often saves 9 %, and takes 7 MB more of the 64 that 10 GB may take: what is kept is that garbage may gather up to 16 MiB however little
is in use. Sessions of some 200 KB, one after the other, take 0.67 × the time by that (3 pairs, 0.58 to 0.83), single ones as long as
before (0.98 ×, 9 pairs).

What is remembered of calls and ids stands in rings of a fixed size, where it stood in maps: short texts take 0.96 × the time (11 pairs, 0.79
to 1.22), and 10 GB through a pipe 55 MiB instead of 74. Measured again at a load of 17, short texts are at 1.6 × the pipeline (9 pairs, 1.6 to
1.9).

**Since then**, in pairs on 2026-11-22 beside the work of others (load 8 to 13), user time, one processor. A loaded machine is no place for wall
time, so that what each step brought was counted in instructions, which do not hang on the load.

| what | ratio of the medians of pairs (min to max) |
|---|---|
| short texts (131 MB), against the program of that morning, 15 pairs, twice | 0.88 × (0.64 to 1.02), 0.86 × (0.68 to 1.08) |
| mixed, the same, 9 pairs and, a step earlier, 7 | 0.89 × (0.76 to 1.05), 0.87 × (0.74 to 1.34) |
| short texts against the gjson pipeline, 11 pairs, twice | 2.0 × (1.6 to 3.0), 2.1 × (1.8 to 2.7); 1.9 × and 2.0 × with system time; 1.8 × before, on the idle machine; 2.2 × hoped for |
| mixed against it, 5 pairs | 3.7 × (2.7 to 4.4); 3.5 × with system time; 3.1 × before, on the idle machine; 3 × hoped for |

Instructions, on 12 MB of each (10 of the millions are the program's start):

| step | short texts, millions | long ones, millions |
|---|---|---|
| before | 270 | 161 |
| a name is looked up as it stands, and decoded only if it is not found; a sound line is a record without a queue; a count is passed by words; a group of calls has room for one; lists of one part are not searched again | 253 | 154 |
| a message of one text is not searched for images; ASCII between other characters is passed 32 bytes at a time | | 144 |
| ids of 36 bytes are passed word by word, and not as long texts | 248 (with 2 for rules that came) | 143 |
| the only open call stands in no map; no string is made of the name of a client's own tool; what an event tells is found by its item's name | 241 | |
| a span that begins and ends in one stretch is one mark | 239 | 141 |

Shares of the time on short texts before and after: the scanner 32 and 33 %, calls 13 and 15 %, items 13 and 13 %, reading and cutting 7 and 8 %,
decoding 7 and 7 %, messages 6 and 5 %, turns 5 and 4 %: nothing stands out any more.

Tried in vain: the first 16 bytes of a stretch compared as words and not by a call (2 % more instructions: most stretches are longer); base64 of
images checked eight bytes at a time without a table (0.99 ×, 7 pairs, 0.91 to 1.51); eight characters of three bytes at a time (0.96 × and
1.05 ×, 9 pairs each). To find a line's end where its value ends instead of by a search of its own saves nothing
(as many instructions; short texts 1.02 ×, long ones 1.00 ×, 15 pairs each), and a record that was laid out over several lines had then taught the scanner a way
from one line into the next. Nor do the first 64 bytes of a stretch compared as words (2 % more instructions), or a table that tells without a look at the
ring what may move up when a call is forgotten (0.99 ×, 25 pairs, 0.61 to 1.53). The program uses 1.05 times as much
processor time on two processors as on one (9 pairs, 0.99 to 1.09; mixed 7 pairs, 0.93 to 1.24), so that what one file lacks to 1.7 × is time in which one of them waits.

Against the program before Claude Code came (c716e16), one processor, in pairs: lint of 200 MB of long records takes 0.93 × the time and of
60 MB of short ones 0.77 × (11 pairs each), repair of 60 MB of long records 1.02 × (9 pairs, 0.91 to 1.11).

A session of Claude Code with 53 000 records of 750 bytes takes about 1.27 × as long for each byte as short records of
Codex's, which take less than they did (user time, the median of 21 pairs at a load of 17, 0.96 to 2.1; with 160 000 records 1.4 ×, for the tree grows
with the session; 1.15 × was hoped for). (They were later measured at a
lower load, see below.) Since a content block is looked at once, and nodes come many at once, they take 0.86 × the time they took
(0.94 × and 0.92 ×, 15 pairs each); 600 outputs of 400 KB, 280 MB, take 0.8 s instead of 1.5 s (one run each), and 55 MiB
instead of 358: nothing is kept of a record's content. What is sent is worked out once, and only changed trees are walked again; a tool's structured result is read where
something is wrong with its output.

Then a parent is looked for in front of the record before it is looked up, ids that are all different are not compared again, an output's call is
looked for above it, the hashes of requests are kept as bytes, the blocks of all records are cut in the same memory, and times are read without a
general parser: 160 000 records (120 MB) take 0.79 × the user time they took (9 pairs, 0.57 to 0.83; before the last merge 0.77 ×, 15 pairs, 0.56 to
1.11), and 109 MiB where it was 124. Measured in the same hour at a load of 2 to 10, against short records of Codex's of the same length in bytes
(user time for each byte; in parentheses with the system's time, most of which is memory touched for the first time):

| session | before | now |
|---|---|---|
| 53 000 records | 1.04 × (1.17 ×), 11 pairs, 0.98 to 1.34 | 1.06 × (1.17 ×), 15 pairs, 0.89 to 1.63 |
| 160 000 records | 1.33 × (1.42 ×), 7 pairs, 0.93 to 1.93 | 1.14 × (1.26 ×), 9 pairs, 0.96 to 1.44 |

So 1.15 × was reached in user time, and not with the system's: a record of the tree took 696 bytes to the end of the session. What walks over the tree
at the end is a fifth of what is left. Tried in vain: the members that every walk asks for at the front of that structure, which saves 32 bytes
of it (1.00 × with the system's time, 15 pairs, 0.87 to 1.21).

Now a record of the tree takes 328 bytes: what few records have stands apart (200 bytes, for those alone), the words that many have in common are kept
once, and places are counted in 32 bits. 160 000 records take 0.85 × the time with the system's (9 pairs, 0.80 to 0.95), and 76 MiB where it was
109. Measured as above at a load of 7 to 9, twice, the second time with all that came meanwhile:

| session | user time for each byte | with the system's |
|---|---|---|
| 53 000 records | 0.99 ×, 0.91 × | 1.08 × (15 pairs, 0.76 to 1.41), 0.99 × (15 pairs, 0.79 to 1.40) |
| 160 000 records | 1.05 ×, 1.08 × | 1.08 × (9 pairs, 0.87 to 1.22), 1.11 × (9 pairs, 0.84 to 1.21) |

On a quieter machine (load 3) 160 000 records were at 1.04 × with the system's time (7 pairs, 1.03 to 1.13), where the program before was at 1.30 × (5
pairs, 1.24 to 1.45).

**Wide instructions**, measured on 2026-11-23 in pairs beside the work of others (load 9 to 15). Where the processor has AVX2, the inside of strings
is passed 64 bytes at a time and UTF-8 32 bytes at a time, in assembly (internal/jsonl/wide_amd64.s); other processors take the words of eight bytes as
before, and a test holds that both say the same.

| what | ratio of the medians of pairs (min to max) |
|---|---|
| long records (131 MB), one processor, against the program before, 11 pairs | 0.60 × user time (0.52 to 0.66); 0.66 × with system time |
| mixed, the same, 7 pairs | 0.66 × (0.58 to 0.71); 0.69 × with system time |
| short texts, the same, 11 pairs | 0.97 × (0.89 to 1.19); 0.96 × with system time |
| mixed against the gjson pipeline, 4 pairs | 5.7 × (5.0 to 10); 5.0 × with system time; 3.0 × by the clock before, on the idle machine |
| ` + "`" + `jq -c .type` + "`" + ` against mixed on all processors, by the clock, 3 pairs, and 5 at another time | 8.0 × (6.1 to 13), 13 × (9.6 to 21) |
| short texts against the gjson pipeline, 11 pairs | 2.1 × (1.8 to 2.2); 1.9 × with system time; 2.2 × hoped for |
| repair of 262 MB by the clock, against the program before, 9 pairs | 0.59 × (0.34 to 0.91) |
| that repair against lint of the same, which takes less time, too, 9 pairs | 3.1 × (1.6 to 6.2) |

The program of today takes as many instructions for 12 MB of short texts (239 million) as it took on 2026-11-22: the rules that came since cost
nothing there; with the wide instructions it takes 230 million. Short texts gain little, for their strings end before a wide step is worth its start. Of the
8 300 instructions that a record of 450 bytes takes, the scanner has more than a third, and no line of the program has 4 %.

Repair against ` + "`" + `dd` + "`" + `: what a repair of 262 MB takes of the processors is now twice lint (0.55 s each, user and system), one sum (0.28 s), and some 0.4 s for
reading, copying and a fast hash: 1.8 s where it was 2.3 to 2.6 s. Divided between two processors that is 0.9 s, beside the 0.3 s of dd, which hardly
needs them. The sync begins with the check and, on this disk, ends in front of it, so that writing to the disk earlier (` + "`" + `sync_file_range` + "`" + `) has nothing to gain;
while the sum is taken one processor is idle for some 0.1 s by these figures, which is all that a check beside the writing could save, and it would have to read
a file that is still being written.

Tried in vain: strings of 16 or 24 bytes taken for long ones, instead of 40 (1 % fewer instructions on short texts, as much time, 8 runs each); what both tables
of escapes need loaded at the beginning of each string instead of at its first escape (short texts took some 5 % more); the checkers called from a loop of its own (as many instructions).
`
