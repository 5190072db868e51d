package mlir

// Codes of builtin attributes.
const (
	codeDictionary     = 1
	codeString         = 2
	codeStringWithType = 3
	codeCallSite       = 10
	codeFileLine       = 11
	codeFused          = 12
	codeFusedMetadata  = 13
	codeName           = 14
	codeFileRange      = 22
)

// attribute is an attribute as it stands in the file.
type attribute struct {
	data    reader
	builtin bool // and encoded in the builtin dialect's own way
}

// code is a builtin attribute's.
func (a *attribute) code() uint64 {
	r := a.data
	return r.varint()
}

// body is what follows a builtin attribute's code.
func (a *attribute) body() reader {
	r := a.data
	r.varint()
	return r
}

// attribute gives attribute n, nil where there is none.
func (m *Module) attribute(n int) *attribute {
	if n < 0 || n >= len(m.attributes) {
		return nil
	}
	return &m.attributes[n]
}

// entry is one of a dictionary's: indices into attributes.
type entry struct{ name, value int }

// dictionary lists the entries of attribute n, nil where it is no dictionary.
func (m *Module) dictionary(n int) []entry {
	a := m.attribute(n)
	if a == nil || !a.builtin || a.code() != codeDictionary {
		return nil
	}
	r := a.body()
	n = r.count()
	entries := make([]entry, 0, min(n, 64))
	for range n {
		e := entry{r.index(len(m.attributes)), r.index(len(m.attributes))}
		if r.err != nil {
			return nil
		}
		entries = append(entries, e)
	}
	return entries
}

// text is the string that attribute n is, nil where it is none.
func (m *Module) text(n int) []byte {
	a := m.attribute(n)
	if a == nil || !a.builtin || a.code() != codeString {
		return nil
	}
	r := a.body()
	i := r.index(len(m.strings))
	if r.err != nil {
		return nil
	}
	return m.strings[i]
}

// Limits of a location. JAX keeps 10 frames, unless asked for more.
const (
	maxFrames        = 256
	maxLocationDepth = 256
)

// walk gathers the frames of a location.
type walk struct {
	m      *Module
	frames []Frame
	left   int // how many attributes may still be looked at
}

// location adds the frames of attribute n, inside of a name.
func (w *walk) location(n int, name string, depth int) {
	a := w.m.attribute(n)
	if a == nil || !a.builtin || depth > maxLocationDepth || w.left == 0 {
		return
	}
	w.left--
	r := a.body()
	index := func() int { return r.index(len(w.m.attributes)) }
	switch a.code() {
	case codeFileLine:
		file := w.m.text(index())
		f := Frame{File: string(file), Line: r.varint(), Column: r.varint(), Name: name}
		if r.err == nil && len(file) > 0 {
			w.frames = append(w.frames, f)
		}
	case codeFileRange: // line and column where it begins, then where it ends
		file := w.m.text(index())
		var at [2]uint64
		for i := range r.count() {
			if v := r.varint(); i < len(at) {
				at[i] = v
			}
		}
		if r.err == nil && len(file) > 0 {
			w.frames = append(w.frames, Frame{File: string(file), Line: at[0], Column: at[1], Name: name})
		}
	case codeName:
		own, child := w.m.text(index()), index()
		if r.err == nil {
			if name == "" || len(own) > 0 {
				name = string(own)
			}
			w.location(child, name, depth+1)
		}
	case codeCallSite:
		callee, caller := index(), index()
		if r.err == nil {
			w.location(callee, name, depth+1)
			w.location(caller, "", depth+1)
		}
	case codeFused, codeFusedMetadata:
		for range r.count() {
			if part := index(); r.err == nil {
				w.location(part, name, depth+1)
			}
		}
	}
}
