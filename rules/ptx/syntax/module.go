package syntax

// Module is a parsed PTX text.
type Module struct {
	Name    string         // as given to Parse, for messages
	Version string         // of the PTX language, such as "8.7"
	Target  string         // such as "sm_90a"
	Files   map[int]string // of .file
	Entries []*Entry       // in the order of the text

	Shared  []*Variable // declared outside of functions
	Globals []*Variable // .global and .const
}

// Entry returns the kernel of that name, or nil.
func (m *Module) Entry(name string) *Entry {
	for _, e := range m.Entries {
		if e.Name == name {
			return e
		}
	}
	return nil
}

// Entry is one kernel of a module.
type Entry struct {
	Name         string
	Params       []Param
	ReqThreads   [3]uint32 // .reqntid, zero where not given
	MaxThreads   [3]uint32 // .maxntid
	ReqCluster   [3]uint32 // .reqnctapercluster
	StaticShared uint32    // bytes
	Line         int       // of .entry

	Module   *Module   // that it stands in
	Function *Function // its body
}

// Param is one parameter of a kernel.
type Param struct {
	Name    string
	Type    string // such as "u64", "b8"
	Size    int    // bytes, arrays included
	Align   int    // bytes
	Pointer bool   // declared with .ptr, or a 64-bit integer that addresses are computed from
}
