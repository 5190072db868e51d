package hlo

import (
	"fmt"
	"io"
	"sort"
)

// want is a module of an archive, read as its members come by.
type want struct {
	src   Source
	text  string // the members' names; the others only of a pair
	pair  string
	list  string // of its used values, empty: none
	got   int
	total int
}

// wanted lists an archive's modules by the names of their members, and yields what
// should have been one and is not.
func (f *finder) wanted(path string, c *catalog) map[string]*want {
	wanted := map[string]*want{}
	files := &archivedFiles{path: path, limits: f.limits}
	sort.Strings(c.order)
	for _, folder := range c.order {
		list := c.folders[folder]
		sort.SliceStable(list, func(i, j int) bool { return list[i].name < list[j].name })
		for _, p := range group(list) {
			full := path + memberSeparator + folder + p.name
			switch {
			case p.err != nil:
				f.fail(full, p.err)
			case p.text:
				w := &want{text: folder + p.name, pair: folder + p.assignment, total: 2}
				w.src = Source{Path: full, Text: true, Assignment: path + memberSeparator + w.pair, member: &member{},
					archive: newArchiveFolder(files, w.text)}
				wanted[w.text], wanted[w.pair] = w, w
				if p.values != "" {
					w.list, w.total = folder+p.values, 3
					w.src.Values = path + memberSeparator + w.list
					wanted[w.list] = w
				}
			default:
				w := &want{text: folder + p.name, total: 1}
				w.src = Source{Path: full, member: &member{}, archive: newArchiveFolder(files, w.text)}
				wanted[w.text] = w
			}
		}
		for _, file := range list {
			if file.kind == archive {
				f.fail(path+memberSeparator+folder+file.name, errNested)
			}
		}
	}
	return wanted
}

// extractor reads the wanted members of an archive.
type extractor struct {
	finder  *finder
	archive string
	wanted  map[string]*want
}

// left is how many members are still wanted.
func (x *extractor) left() int { return len(x.wanted) }

// extract reads one member, and yields the module that it makes whole.
func (x *extractor) extract(name string, in io.Reader) error {
	if len(x.wanted) == 0 || x.finder.stopped {
		return errStop
	}
	w := x.wanted[name]
	if w == nil {
		return nil
	}
	delete(x.wanted, name)
	if err := x.read(w, name, in); err != nil {
		delete(x.wanted, w.text)
		delete(x.wanted, w.pair)
		delete(x.wanted, w.list)
		x.finder.fail(x.archive+memberSeparator+name, err)
		return nil
	}
	if w.got++; w.got == w.total {
		x.finder.give(w.src)
	}
	return nil
}

// read reads a member into its place in the source.
func (x *extractor) read(w *want, name string, in io.Reader) error {
	m := w.src.member
	limits := x.finder.limits
	if in == nil {
		return errLink
	}
	if w.src.Text {
		data, err := io.ReadAll(io.LimitReader(in, limits.FileBytes+1))
		if err == nil && int64(len(data)) > limits.FileBytes {
			err = fmt.Errorf("more than %d bytes", limits.FileBytes)
		}
		switch name {
		case w.text:
			m.text = data
		case w.pair:
			m.assignment = data
		default:
			m.values = data
		}
		return err
	}
	l := loader{limits: limits}
	err := l.loadStream(in)
	m.image = l.image
	return err
}
