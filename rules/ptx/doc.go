// Package ptx runs a launch of a PTX kernel, to learn which thread reads
// and which thread writes each byte of each buffer.
//
// In goes an entry of a parsed module (package syntax), a grid, and buffers with or
// without known contents; out comes an Outcome: bytes read and written per buffer,
// accesses outside every buffer, copies that land late, waits that never end, and, for
// any operand and result, whether they may share memory. Addresses, sizes and offsets are
// bytes; every interval is half-open. The language is NVIDIA's "PTX ISA"; rows of the
// table of instructions name its sections. The launch may be hostile: steps, memory and
// sizes are bounded, and what the machine does not know makes the launch "not analysed",
// never harmless.
//
// The way through: forms (the words that each opcode takes), lower, the table_* files,
// cfg and webs make a program of slots and basic blocks; slice says what of it runs, and
// idle which branches make no difference. scheduler
// shares the blocks out to workers; machine, cluster, thread_group, reconvergence, pure
// and linear run them; access, run_*, shared, async, late, wgmma, bulk, tensor and
// mbarrier are their memory. clock and order say what happens before what, lane_sync and
// barrier who meets, and memory_order what flags and tickets leave open. coalesce,
// shape, whole_lines and scatter make events of accesses; record, shadow, event_pair,
// owner_line, owner_tile, chain and settle keep who touched what; backlog puts off what
// has no pattern. unite puts the shadows of all workers together; gather_outcome, effects
// and verdict read them.
package ptx
