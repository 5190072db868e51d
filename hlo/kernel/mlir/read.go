package mlir

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// Limits of a module, beside its own bytes.
const (
	maxBytes   = 256 << 20
	maxNesting = 256
	maxVersion = 6
)

// Sections of the format.
const (
	sectionStrings = 0
	sectionDialect = 1
	sectionAttr    = 2
	sectionOffsets = 3
	sectionIR      = 4
)

// Versions in which the encoding changed.
const (
	versionDialects   = 1 // dialects have versions
	versionLazy       = 2 // isolated regions are sections
	versionUseLists   = 3
	versionShortArgs  = 4 // block arguments may have no location
	versionProperties = 5
)

// IsBytecode reports whether data begins as bytecode does.
func IsBytecode(data []byte) bool { return bytes.HasPrefix(data, []byte("ML\xefR")) }

// Read reads the module in data, which it keeps.
func Read(data []byte) (*Module, error) {
	if !IsBytecode(data) {
		return nil, errors.New("MLIR bytecode: no magic number")
	}
	if len(data) > maxBytes {
		return nil, fmt.Errorf("MLIR bytecode: %d bytes, more than %d", len(data), maxBytes)
	}
	r := reader{data: data, at: 4}
	m := &Module{version: r.varint()}
	if m.version > maxVersion {
		return nil, fmt.Errorf("MLIR bytecode: version %d; %d is the last one known", m.version, maxVersion)
	}
	end := bytes.IndexByte(data[r.at:], 0) // of the producer's name
	if end < 0 {
		return nil, errors.New("MLIR bytecode: the producer's name has no end")
	}
	r.at += end + 1
	var sections [16]reader
	for r.err == nil && r.left() > 0 {
		id, body := r.section()
		if int(id) < len(sections) {
			sections[id] = body
		}
	}
	if r.err == nil {
		r.err = m.read(&sections)
	}
	if r.err != nil {
		return nil, fmt.Errorf("MLIR bytecode of version %d: %w", m.version, r.err)
	}
	return m, nil
}

// read reads the sections, each of which needs those before it.
func (m *Module) read(sections *[16]reader) error {
	for _, part := range [...]struct {
		name string
		id   int
		read func(*reader)
	}{
		{"strings", sectionStrings, m.readStrings},
		{"dialects", sectionDialect, m.readDialects},
		{"attributes", sectionOffsets, func(r *reader) { m.readAttributes(r, sections[sectionAttr]) }},
		{"operations", sectionIR, m.readOps},
	} {
		r := &sections[part.id]
		if part.read(r); r.err != nil {
			return fmt.Errorf("%s: %w", part.name, r.err)
		}
	}
	return nil
}

// readStrings reads the table of strings, whose lengths stand last to first and count
// a zero at the end.
func (m *Module) readStrings(r *reader) {
	n := r.count()
	lengths := make([]uint64, n)
	for i := range lengths {
		lengths[n-1-i] = r.varint()
	}
	for _, length := range lengths {
		s := r.take(length)
		if length == 0 {
			r.fail(errors.New("a string without its end"))
		}
		if r.err != nil {
			return
		}
		m.strings = append(m.strings, s.data[:length-1])
	}
}

// readDialects reads the dialects' and the operations' names.
func (m *Module) readDialects(r *reader) {
	for range r.count() {
		name, versioned := r.varint(), false
		if m.version >= versionDialects {
			name, versioned = name>>1, name&1 != 0
		}
		if versioned {
			r.section()
		}
		if name >= uint64(len(m.strings)) {
			r.fail(fmt.Errorf("string %d of %d", name, len(m.strings)))
		}
		if r.err != nil {
			return
		}
		m.dialects = append(m.dialects, m.strings[name])
	}
	if m.version >= versionShortArgs {
		r.varint() // how many names follow in all
	}
	for r.err == nil && r.left() > 0 {
		dialect := r.index(len(m.dialects))
		for range r.count() {
			name := r.varint()
			if m.version >= versionProperties {
				name >>= 1
			}
			if name >= uint64(len(m.strings)) {
				r.fail(fmt.Errorf("string %d of %d", name, len(m.strings)))
			}
			if r.err != nil {
				return
			}
			m.names = append(m.names, string(m.dialects[dialect])+"."+string(m.strings[name]))
		}
	}
	for i, name := range m.names {
		// Some writers give an operation's name with its dialect.
		if d, rest, ok := strings.Cut(name, "."); ok && strings.HasPrefix(rest, d+".") {
			m.names[i] = rest
		}
	}
}

// readAttributes finds the attributes in their section.
func (m *Module) readAttributes(r *reader, data reader) {
	count := r.count()
	r.varint() // types
	for r.err == nil && len(m.attributes) < count {
		dialect := r.index(len(m.dialects))
		n := r.count()
		if n == 0 && r.err == nil {
			r.fail(errors.New("a group of nothing"))
		}
		for range n {
			size, custom := r.flagged()
			part := data.take(size)
			if data.err != nil {
				r.fail(fmt.Errorf("attribute %d: %w", len(m.attributes), data.err))
			}
			if r.err != nil || len(m.attributes) == count {
				return // types follow
			}
			m.attributes = append(m.attributes, attribute{data: part, builtin: custom && string(m.dialects[dialect]) == "builtin"})
		}
	}
}
