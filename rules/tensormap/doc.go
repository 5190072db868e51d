// Package tensormap judges TMA descriptors: the parameters of
// cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col, wherever they were found.
//
// Parameters come from a log in which a library printed a descriptor that failed
// ([ReadLog]), from flags, from a Triton kernel call ([FromTriton]) or from
// tensormap.replace instructions that a kernel ran ([FromReplace]). All end as a
// [Descriptor] in the driver's own terms: enumerations in the driver's numbers,
// dimensions innermost first, sizes in elements, strides and addresses in bytes.
// [Judge] holds it to the documented rules and says what the driver will answer,
// what probably happened, and the smallest change that makes it legal.
//
// The rules are those of the CUDA driver API, group CUDA_TENSOR_MEMORY (CUDA 12.9
// and 13.0). What is marked as measured was seen on driver 580.159. The package
// imports nothing but the standard library, holds no state, and takes any text and
// any numbers: a log is read line by line in bounded memory.
package tensormap
