// Package mlir reads MLIR bytecode as far as an audit needs it: which operations a
// module has, what they are named, where in the source they stand, and which values
// they take.
//
// In: the bytes of one module, of versions 0 to 6 of the format. Out: a Module, whose
// operations are in the order of the file, an operation before what is inside it.
// Attributes of dialects other than builtin, types, properties and resources are not
// read. Locations are followed through names, fusions and calls.
//
// The bytes come from an untrusted file: every count is bounded by the bytes that are
// left, every index by its table, nesting and the length of locations by limits.
//
// Format: mlir.llvm.org/docs/BytecodeFormat; mlir/include/mlir/IR/
// BuiltinDialectBytecode.td for attributes; mlir/lib/Bytecode/Encoding.h for versions.
package mlir
