package ptx

// twins are the owners of each element of a line that two workers touched: of the
// two smallest clusters, the smaller first. No verdict needs more.
type twins struct {
	owner   [2]sheet
	cluster [2][lineElements]uint32
}

const maxTwins = 8 // entries of a chain

// uniteSheets is uniteLine where owners tell all that there is, and where both
// lines have sheets already, so that it takes no more memory; it is false where
// nothing was done.
func (r *recorder) uniteSheets(cell *uint32, other uint32) bool {
	var x twins
	if !r.addTwins(&x, *cell) || !r.addTwins(&x, other) {
		return false
	}
	r.freeCell(*cell)
	r.freeCell(other)
	*cell = 0
	for k := len(x.owner) - 1; k >= 0; k-- {
		mask := x.owner[k].mask()
		if mask == 0 {
			continue
		}
		i, sh, ok := r.newSheet()
		if !ok {
			return true
		}
		*sh = x.owner[k]
		if k == 0 && *cell == 0 {
			*cell = sheetFlag | i
		} else {
			r.push(cell, entry{mask: mask, ev: i, how: inSheet, thread: anyThread})
		}
	}
	return true
}

// addTwins adds what a cell tells; it is false where that is not told by sheets, or
// where a cluster has touched an element more than once.
func (r *recorder) addTwins(x *twins, cell uint32) bool {
	switch cell & flagBits {
	case sheetFlag:
		return r.addTwin(x, r.sheets.get(cell&indexBits))
	case chainFlag:
		sheets := 0
		for i, n := cell&indexBits, 0; ; n++ {
			en := r.entries.get(i)
			switch {
			case en.mask == 0:
			case en.how == inSheet:
				if sheets++; !r.addTwin(x, r.sheets.get(en.ev)) {
					return false
				}
			case r.fits(*en):
				var sh sheet
				if r.write(&sh, *en); !r.addTwin(x, &sh) {
					return false
				}
			default:
				return false
			}
			if en.next == 0 {
				return sheets > 0
			}
			if i = en.next - 1; n == maxTwins {
				return false
			}
		}
	}
	return false
}

func (r *recorder) addTwin(x *twins, sh *sheet) bool {
	for k, o := range sh.owner {
		if o == 0 {
			continue
		}
		id := o - 1
		if o&soloFlag != 0 {
			id = *r.solos.get(o &^ soloFlag >> r.m.threadBits)
		}
		c := r.events.get(id).cluster
		first, second := &x.owner[0].owner[k], &x.owner[1].owner[k]
		switch {
		case *first == 0:
			*first, x.cluster[0][k] = o, c
		case c == x.cluster[0][k] || *second != 0 && c == x.cluster[1][k]:
			return false
		case c < x.cluster[0][k]:
			*second, x.cluster[1][k] = *first, x.cluster[0][k]
			*first, x.cluster[0][k] = o, c
		case *second == 0 || c < x.cluster[1][k]:
			*second, x.cluster[1][k] = o, c
		}
	}
	return true
}

// freeCell gives back the sheets and entries of a line.
func (r *recorder) freeCell(cell uint32) {
	switch cell & flagBits {
	case sheetFlag:
		r.freeSheet(cell & indexBits)
	case chainFlag:
		for i := cell&indexBits + 1; i != 0; {
			en := *r.entries.get(i - 1)
			if en.how == inSheet {
				r.freeSheet(en.ev)
			}
			r.freeEntry(i - 1)
			i = en.next
		}
	}
}
