// Package syntax reads PTX: text goes in, a module of entries, functions,
// instructions and variables comes out, every name resolved. The language is
// NVIDIA's "PTX ISA"; what an instruction means is not looked at here.
//
// The text may be hostile: its length, the nesting, and the number of
// instructions, operands, registers and initialized bytes are bounded, and an
// error names file, line and column. lex.go makes tokens, the parse_* files the
// tree of tree.go. A module never changes once it is read, so that many launches
// may run it at once.
package syntax
