package kernel

// Source is one kind of custom calls whose kernels can be read: a row of package sources.
type Source struct {
	Name string // triton, pallas, ...
	// Handles reports whether calls of this target are the source's.
	Handles func(target string) bool
	// New returns a decoder, which is for one goroutine.
	New func(Options) Decoder
}

// Options say what decoders are to read.
type Options struct {
	Limit int // bytes that one call may inflate to; 0: the decoder's own limit
	// WithoutCode leaves the code out of calls: who does not run kernels need not copy it.
	WithoutCode bool
}

// Decoder reads the kernel calls of one source, one after another: see the contract in
// the package's comment. It may keep its buffers between calls.
type Decoder interface {
	// Peek returns the kernel's name of a call that is not autotuned from the first
	// bytes of its backend_config. ok is false where it is not there to be had this
	// way; Decode then says what the call is, or what is wrong with it. The name is
	// valid until the decoder's next call.
	Peek(target string, config []byte) (name []byte, ok bool)
	// Decode reads a call. Errors name the place.
	Decode(r *Request) (*Call, error)
}

// Request is a custom call whose kernel is asked for.
type Request struct {
	Target      string
	Config      []byte // backend_config as the module has it
	Instruction string // the call's name
	Computation string // that of the computation that it stands in
	Module      string // the module's name

	// Operands and Results are the arrays of the call, flattened: buffer n is operand n,
	// or result n less the number of operands.
	Operands, Results []Array
	Pairs             []Pair // declared: operand and result are one buffer

	// Prefix is what the names of the module's files begin with, up to the stage:
	// "module_0001.jit_step"; empty where its file is not named so.
	Prefix string
	Files  Files // nil: none can be read
}

// Array is an operand's or a result's array.
type Array struct {
	Element string // as HLO text has it: f32, bf16, s32, pred, ...
	Dims    []int64
	Bytes   int64
}

// Pair numbers an operand's array and a result's.
type Pair struct{ Operand, Result int }

// Files are the companions of a module: what lies beside it in the dump.
type Files interface {
	// Names lists the companions whose names begin with prefix, in order. Names have no
	// folder, but for those of folders beside the module: FOLDER/NAME.
	Names(prefix string) ([]string, error)
	// Read returns a companion's bytes: an error where it has more than most.
	Read(name string, most int64) ([]byte, error)
}

// Set reads the calls of several sources. It is for one goroutine.
type Set struct {
	sources  []Source
	options  Options
	decoders []Decoder // as they are asked for
}

// NewSet returns a reader of these sources' calls.
func NewSet(sources []Source, o Options) *Set {
	return &Set{sources: sources, options: o, decoders: make([]Decoder, len(sources))}
}

// Source is the name of the source that has calls of this target, empty for none.
func (s *Set) Source(target string) string {
	for i := range s.sources {
		if s.sources[i].Handles(target) {
			return s.sources[i].Name
		}
	}
	return ""
}

// For returns the decoder of calls of this target, nil where no source has them.
func (s *Set) For(target string) Decoder {
	for i := range s.sources {
		if !s.sources[i].Handles(target) {
			continue
		}
		if s.decoders[i] == nil {
			s.decoders[i] = s.sources[i].New(s.options)
		}
		return s.decoders[i]
	}
	return nil
}
