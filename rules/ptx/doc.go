// Package ptx runs a launch of a PTX kernel, to learn which thread reads
// and which thread writes each byte of each buffer.
//
// In goes an entry of a parsed module (package syntax), a grid, and buffers with or without known
// contents; out comes an Outcome: bytes read and written per buffer, accesses
// outside every buffer, copies that land late, waits that never end, and, for
// any operand and result, whether they may share memory. Addresses, sizes and
// offsets are bytes; every interval is half-open. The language is NVIDIA's
// "PTX ISA"; table rows name its sections. The text and the launch may be
// hostile: steps, memory, nesting and sizes are bounded, and what the machine
// does not know makes the launch "not analysed", never harmless.
//
// The way through: forms (the
// words that each opcode takes), lower, the table_* files and cfg make a program
// of slots and basic blocks; slice says what of it runs. crew shares the blocks
// out, machine, cluster, strand, join, pure and linear run them; access, run_*,
// shared, async, late, wgmma, bulk, tensor and mbarrier are their memory. clock
// and order say what comes first. held, plan and scatter make events of accesses;
// record, shadow, duo, sheet, chain and settle keep who touched what; book holds
// a worker's record, and puts those of all together. gather, effects and verdict
// read that.
package ptx
