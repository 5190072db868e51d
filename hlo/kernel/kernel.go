// Package kernel is the model of a kernel call, whoever compiled the kernel: what every
// decoder gives, and what every engine that runs or judges kernels takes.
//
// A Call has one Configuration for each kernel that may be launched: its code, its
// geometry, and its parameters, each bound to the buffer whose address it gets. Buffers
// are the custom call's operands and then its results, flattened to arrays, numbered
// from 0. All sizes and offsets are bytes.
//
// # A source of kernels
//
// A source is a folder beside this file, a decoder for the custom calls of one compiler
// (triton, pallas, …), and one line in package sources. It gets a Request: the custom
// call's target and backend_config, its arrays, and the Files that lie beside the
// module. It gives a Call, or an error that names the place in what it read.
//
// The contract of a decoder:
//   - What it reads comes from an untrusted file: every count, size and nesting depth is
//     bounded before it is used. Numbers such as the grid may be handed on as written:
//     Configuration.Geometry and Configuration.Bind check them.
//   - A kernel that is known but cannot be launched (its code is not in the dump, a
//     parameter is of no known kind) is no error: Call.Problem or Configuration.Problem
//     says why, and reports list it as not analysed. An error is for what is damaged.
//   - Parameters are listed in the order of the entry's. The buffer of each is named:
//     nothing is implied by the order. Several tensor maps may lie in one parameter.
//   - The Call owns its memory: nothing in it points into the Request.
//   - Names that it hands on (Name, Entry, Description) are not escaped: who prints does.
//   - Peek is for speed. It may give the name of the kernel of a call with a single
//     configuration from the first bytes of its backend_config; it must not read Files.
package kernel

import (
	"fmt"
	"slices"
)

// Call is a kernel call: one kernel, or the configurations of an autotuned one.
type Call struct {
	Source string // the decoder's: triton, pallas, ...
	Name   string // the kernel's, or the autotuner's name for it

	// Configurations are the kernels that the call may launch. Empty only with a Problem.
	Configurations []Configuration

	Autotuned bool        // a single configuration is tuned too
	Early     bool        // the autotuner runs before the program's first instruction
	Saved     []SaveEntry // what the autotuner was told of shared buffers

	// OnePointer: the kernel was compiled to work on each declared pair through one
	// pointer (a Ref of Pallas). Without it a claimed result that has no pointer of its
	// own is its operand, and what the kernel does with it is its business.
	OnePointer bool

	// Problem says why none of it can be run: empty where a configuration may.
	Problem string
}

// SaveEntry is an entry of the autotuner's table of shared buffers, as written: the
// numbers need not be buffers. The autotuner saves buffer Input, and puts it back, if
// Output has the same address.
type SaveEntry struct {
	Input, Output int64
	Size          uint64 // bytes that are saved and put back
}

// Configuration is one compiled kernel with the launch that runs it.
type Configuration struct {
	Entry       string // the entry's name in the PTX
	Kernel      string // the name in the user's program, where it is another; else empty
	Description string // the autotuner's words for it

	PTX []byte
	// File is what messages call the PTX: the companion file that holds it, or a name
	// made from the entry's. Empty: the entry's with .ptx.
	File        string
	Cubin       []byte // compiled ahead of time, mostly absent
	CubinEntry  string
	CubinShared uint32 // dynamic shared memory that the cubin wants

	Capability int32     // 90 is sm_90, 0 where it is not known
	Grid       [3]uint32 // blocks
	Block      [3]uint32 // threads
	Cluster    [3]uint32 // blocks of a cluster; zeros and ones: none
	Shared     uint32    // dynamic shared memory of a block

	Params []Param // one for each parameter of the entry, in order

	// Sites are all places in the source that read or write a buffer, where the PTX has
	// no lines; nil where they are not known.
	Sites []Site

	// Problem says why this one cannot be launched as the dump has it; empty: nothing
	// that the decoder knows of.
	Problem string
}

// Name is what users call the kernel: the same whatever else the program holds.
func (c *Configuration) Name() string {
	if c.Kernel != "" {
		return c.Kernel
	}
	return c.Entry
}

// Site is a place in the source that reads a buffer, or writes it.
type Site struct {
	Buffer int
	Write  bool
	File   string
	Line   int // from 1
}

// Site gives the only place that reads, or writes, buffer n; false where there are
// several, or where it is not known.
func (c *Configuration) Site(n int, write bool) (Site, bool) {
	var found Site
	for _, s := range c.Sites {
		if s.Buffer != n || s.Write != write {
			continue
		}
		if found.Line != 0 && (found.Line != s.Line || found.File != s.File) {
			return Site{}, false
		}
		found = s
	}
	return found, found.Line != 0
}

// FileName is what messages call the configuration's PTX.
func (c *Configuration) FileName() string {
	if c.File != "" {
		return c.File
	}
	return c.Entry + ".ptx"
}

// ParamKind is what a kernel parameter is.
type ParamKind uint8

// The kinds. Other is one that the decoder does not know.
const (
	Other      ParamKind = iota
	Pointer              // the address of a buffer
	Scalar               // a value
	TensorMaps           // TMA descriptors of buffers, by value, 128 bytes each
	Scratch              // the address of global memory that belongs to the launch alone; null where Bytes is 0
	Null                 // a null pointer
)

// Param is one parameter of an entry. What does not belong to its kind is zero.
type Param struct {
	Kind ParamKind
	Type string // of a scalar: bool, i32, u32, i64, u64, f32, f64; of another: what the file calls it

	Buffer       int    // Pointer, Other: the buffer; of Other a guess
	Offset       int64  // Pointer: bytes from the buffer's start
	Zero         uint64 // Pointer: bytes set to zero through it before the kernel's first instruction
	Divisibility uint64 // Pointer: what the address must be a multiple of; 0: nothing is asked

	Bits uint64 // Scalar: little-endian in its low Size bytes
	Size uint8  // Scalar: 1 to 8

	Maps []TensorMap // TensorMaps: one after the other

	Bytes int64  // Scratch: of the whole launch
	Align uint32 // Scratch

	// Optional marks pointers at the end that the entry may lack.
	Optional bool
}

// TensorMap is a TMA descriptor that the host encodes of a buffer before the launch:
// its numbers as written, outermost dimension first. Rank and ranges are not checked.
// ElemType, Swizzle and OOBFill count as the driver's cuTensorMapEncodeTiled does.
type TensorMap struct {
	Buffer                     int
	Offset                     int64 // bytes from the buffer's start
	ElemType, Swizzle, OOBFill uint32
	Shape                      []uint64
	Strides                    []uint64 // in elements
	BlockShape                 []uint32
}

// TensorMapSize is sizeof(CUtensorMap).
const TensorMapSize = 128

// pointerSize is that of a parameter that holds an address.
const pointerSize = 8

// size is how many bytes of the entry's parameters p takes.
func (p *Param) size() int {
	switch p.Kind {
	case Scalar:
		return int(p.Size)
	case TensorMaps:
		return TensorMapSize * len(p.Maps)
	}
	return pointerSize
}

// buffers are the least and the highest number among the buffers that p names, 0 and -1
// where it names none.
func (p *Param) buffers() (least, highest int) {
	switch p.Kind {
	case Pointer:
		return p.Buffer, p.Buffer
	case TensorMaps:
		least, highest = 0, -1
		for i := range p.Maps {
			least, highest = min(least, p.Maps[i].Buffer), max(highest, p.Maps[i].Buffer)
		}
		return least, highest
	}
	return 0, -1
}

// Buffers lists the buffers in which the kernel is given an address, ascending: by a
// pointer or a tensor map, or perhaps by a parameter of which no more is known.
func (c *Configuration) Buffers() []int {
	var out []int
	for i := range c.Params {
		switch p := &c.Params[i]; p.Kind {
		case Pointer, Other:
			out = append(out, p.Buffer)
		case TensorMaps:
			for n := range p.Maps {
				out = append(out, p.Maps[n].Buffer)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Takes reports whether buffer n is one of Buffers.
func (c *Configuration) Takes(n int) bool { return slices.Contains(c.Buffers(), n) }

// Bind holds the parameters to those of the PTX entry, whose sizes in bytes are given,
// and to the number of the call's buffers. It returns the parameters that the entry
// has: optional ones at the end are left out where it lacks them. There may be fewer
// pointers than buffers: jax-triton 0.4.0 passes none for a declared result.
func (c *Configuration) Bind(entry []int, buffers int) ([]Param, error) {
	wrongCount := func(own int) error {
		return fmt.Errorf("kernel %s: %d parameters for an entry of %d", c.Entry, own, len(entry))
	}
	own := len(c.Params)
	for own > 0 && c.Params[own-1].Optional {
		own--
	}
	if len(entry) < own {
		return nil, wrongCount(own)
	}
	bound := c.Params[:min(len(entry), len(c.Params))]
	last := -1
	for i := range bound {
		p := &bound[i]
		least, highest := p.buffers()
		switch size := p.size(); {
		case p.Kind == Other:
			return nil, fmt.Errorf("kernel %s: parameter %d is of an unknown kind: %s", c.Entry, i, p.Type)
		case least < 0:
			return nil, fmt.Errorf("kernel %s: parameter %d names buffer %d", c.Entry, i, least)
		case entry[i] != size && p.Optional:
			return nil, fmt.Errorf("kernel %s: the entry's parameter %d has %d bytes, a pointer was expected", c.Entry, i, entry[i])
		case entry[i] != size:
			return nil, fmt.Errorf("kernel %s: parameter %d has %d bytes, the entry's %d", c.Entry, i, size, entry[i])
		}
		last = max(last, highest)
	}
	if last >= buffers {
		return nil, fmt.Errorf("kernel %s: %d pointers for %d buffers", c.Entry, last+1, buffers)
	}
	if len(entry) > len(bound) {
		return nil, wrongCount(own)
	}
	return bound, nil
}
