package pallas

import (
	"bytes"
	"fmt"
	"strings"

	"aliascheck/hlo/kernel"
)

// Limits of the files. The largest sequence seen has 60 KB, the largest PTX 2 MB.
const (
	maxText  = 64 << 20
	maxPTX   = 64 << 20
	maxFiles = 1 << 16
)

// module is what the files beside a module say of its kernels, read when first asked.
type module struct {
	prefix string
	files  kernel.Files

	read    bool
	problem string
	err     error

	instructions map[string][]uint64 // thunks, by the instruction's name
	launches     map[uint64]launch   // by the thunk
	ptx          map[string]string   // files, by the name of their entry
}

// configuration finds the kernel of a call. The problem says what is missing.
func (m *module) configuration(r *kernel.Request, name string) (c kernel.Configuration, problem string, err error) {
	if !m.read {
		m.read = true
		m.problem, m.err = m.load()
	}
	if m.err != nil || m.problem != "" {
		return c, m.problem, m.err
	}
	l, problem := m.launchOf(r.Instruction)
	if problem != "" {
		return c, problem, nil
	}
	file, ok := m.ptx[l.entry]
	if !ok {
		return c, "", fmt.Errorf("%s%s launches %s, and no file of the module's PTX has an entry of this name", m.prefix, sequenceSuffix, l.entry)
	}
	code, err := m.files.Read(file, maxPTX)
	if err != nil {
		return c, "", err
	}
	c = kernel.Configuration{
		Entry: l.entry, Kernel: name, PTX: code, File: file, Grid: l.grid, Block: l.block, Cluster: l.cluster, Shared: l.shared,
		Capability: capability(code),
	}
	for n := range len(r.Operands) + len(r.Results) {
		c.Params = append(c.Params, kernel.Param{Kind: kernel.Pointer, Buffer: n})
	}
	c.Sites = sites(r.Config)
	return c, "", nil
}

// launchOf finds the launch of an instruction: one kernel.
func (m *module) launchOf(instruction string) (launch, string) {
	var found launch
	for _, thunk := range m.instructions[instruction] {
		l, ok := m.launches[thunk]
		switch {
		case !ok:
			continue
		case found.entry != "" && found != l:
			return launch{}, fmt.Sprintf("XLA launches more than one kernel for it: %s and %s", found.entry, l.entry)
		}
		found = l
	}
	if found.entry == "" {
		return launch{}, "its launch is not in " + m.prefix + sequenceSuffix
	}
	return found, ""
}

// Names of the files, after the prefix.
const (
	metadataSuffix      = ".thunk_metadata.txt"
	metadataProtoSuffix = ".thunk_metadata.pb" // where modules are dumped as protos only
	sequenceSuffix      = ".thunk_sequence.txt"
	ptxSuffix           = ".ptx"
)

// load reads the two texts, and finds which file has which kernel.
func (m *module) load() (problem string, err error) {
	names, err := m.files.Names(m.prefix + ".")
	if err != nil {
		return fmt.Sprintf("the files beside the module cannot be listed: %v", err), nil
	}
	has := map[string]bool{}
	var codes []string
	for _, name := range names {
		has[name] = true
		if isPTX(strings.TrimPrefix(name, m.prefix+".")) && len(codes) < maxFiles {
			codes = append(codes, name)
		}
	}
	if len(codes) == 0 {
		return howToDump, nil
	}
	metadata, parse := m.prefix+metadataSuffix, readMetadata
	if !has[metadata] && has[m.prefix+metadataProtoSuffix] {
		metadata, parse = m.prefix+metadataProtoSuffix, readMetadataProto
	}
	sequence := m.prefix + sequenceSuffix
	for _, name := range [...]string{metadata, sequence} {
		if !has[name] {
			return name + " is not in the dump: it says how the kernel is launched", nil
		}
	}
	text, err := m.files.Read(metadata, maxText)
	if err != nil {
		return "", err
	}
	if m.instructions, err = parse(text); err != nil {
		return "", fmt.Errorf("%s: %w", metadata, err)
	}
	if text, err = m.files.Read(sequence, maxText); err != nil {
		return "", err
	}
	if m.launches, err = readSequence(text); err != nil {
		return "", fmt.Errorf("%s: %w", sequence, err)
	}
	return m.findEntries(codes)
}

// findEntries notes the entry that each file has.
func (m *module) findEntries(files []string) (problem string, err error) {
	m.ptx = map[string]string{}
	for _, file := range files {
		code, err := m.files.Read(file, maxPTX)
		if err != nil {
			return "", err
		}
		for rest := code; ; {
			_, after, ok := bytes.Cut(rest, []byte(".entry "))
			if !ok {
				break
			}
			name := string(identifier(after))
			if other, twice := m.ptx[name]; twice && other != file {
				return fmt.Sprintf("%s and %s both have a kernel %s", other, file, name), nil
			}
			m.ptx[name] = file
			rest = after
		}
	}
	return "", nil
}

// identifier is what PTX text begins with, up to a name's end.
func identifier(text []byte) []byte {
	for i, c := range text {
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$' || c == '.') {
			return text[:i]
		}
	}
	return text
}

// isPTX reports whether the rest of a name is K.ptx.
func isPTX(rest string) bool {
	number, ok := strings.CutSuffix(rest, ptxSuffix)
	return ok && number != "" && strings.Trim(number, "0123456789") == ""
}

// capability reads PTX's .target: 90 of sm_90a, 0 where there is none.
func capability(code []byte) int32 {
	_, after, ok := bytes.Cut(code, []byte("\n.target sm_"))
	n := int32(0)
	for i := 0; ok && i < len(after) && i < 4 && after[i] >= '0' && after[i] <= '9'; i++ {
		n = 10*n + int32(after[i]-'0')
	}
	return n
}
