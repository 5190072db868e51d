package ptx

// lineOwners are the owners of each element of a line that two workers touched: of the
// two smallest clusters, the smaller first. No verdict needs more.
type lineOwners struct {
	owner   [2]ownerLine
	cluster [2][lineElements]uint32
}

const maxOwnerEntries = 8 // entries of a chain

// uniteOwners is uniteLine where owners tell all that there is, and where both
// lines have owner lines already, so that it takes no more memory; it is false where
// nothing was done.
func (r *recorder) uniteOwners(cell *uint32, other uint32) bool {
	var x lineOwners
	if !r.addOwners(&x, *cell) || !r.addOwners(&x, other) {
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
		i, sh, ok := r.newOwnerLine()
		if !ok {
			return true
		}
		*sh = x.owner[k]
		if k == 0 && *cell == 0 {
			*cell = ownerFlag | i
		} else {
			r.push(cell, entry{mask: mask, ev: i, how: inOwnerLine, thread: anyThread})
		}
	}
	return true
}

// addOwners adds what a cell tells; it is false where that is not told by owner lines, or
// where a cluster has touched an element more than once.
func (r *recorder) addOwners(x *lineOwners, cell uint32) bool {
	switch cell & flagBits {
	case ownerFlag:
		return r.addOwnerLine(x, r.ownerLines.get(cell&indexBits))
	case chainFlag:
		lines := 0
		for i, n := cell&indexBits, 0; ; n++ {
			en := r.entries.get(i)
			switch {
			case en.mask == 0:
			case en.how == inOwnerLine:
				if lines++; !r.addOwnerLine(x, r.ownerLines.get(en.ev)) {
					return false
				}
			case r.fits(*en):
				var sh ownerLine
				if r.write(&sh, *en); !r.addOwnerLine(x, &sh) {
					return false
				}
			default:
				return false
			}
			if en.next == 0 {
				return lines > 0
			}
			if i = en.next - 1; n == maxOwnerEntries {
				return false
			}
		}
	}
	return false
}

func (r *recorder) addOwnerLine(x *lineOwners, sh *ownerLine) bool {
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

// freeCell gives back the owner lines and entries of a line.
func (r *recorder) freeCell(cell uint32) {
	switch cell & flagBits {
	case ownerFlag:
		r.freeOwnerLine(cell & indexBits)
	case chainFlag:
		for i := cell&indexBits + 1; i != 0; {
			en := *r.entries.get(i - 1)
			if en.how == inOwnerLine {
				r.freeOwnerLine(en.ev)
			}
			r.freeEntry(i - 1)
			i = en.next
		}
	}
}
