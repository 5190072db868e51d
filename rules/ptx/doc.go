// Package ptx parses PTX and runs a launch of it, to learn which thread reads
// and which thread writes each byte of each buffer.
//
// In goes a module's text, an entry, a grid, and buffers with or without known
// contents; out comes an Outcome: bytes read and written per buffer, accesses
// outside every buffer, copies that land late, waits that never end, and, for
// any operand and result, whether they may share memory. Addresses, sizes and
// offsets are bytes; every interval is half-open. The language is NVIDIA's
// "PTX ISA"; table rows name its sections. The text and the launch may be
// hostile: steps, memory, nesting and sizes are bounded, and what the machine
// does not know makes the launch "not analysed", never harmless.
package ptx
