package diff

import (
	"cmp"
	"slices"
	"strings"
)

// Dump is the facts of every custom call of one side of a diff.
type Dump struct {
	modules, calls int
	incomplete     []string
	variants       map[Identity][]*variant // in the order of the dump
	found          []Found                 // about modules' memory, no call's
	foundAt        map[sameFinding]int
}

// variant is one state of a call. Programs that are compiled again and again have
// calls of equal identity by the dozen; equal facts are kept once.
type variant struct {
	facts       facts
	key         string
	path        string // of the first call
	instruction string
	calls       int
}

func (d *Dump) add(id Identity, v *variant) {
	d.calls++
	for _, have := range d.variants[id] {
		if have.key == v.key {
			have.calls++
			return
		}
	}
	d.variants[id] = append(d.variants[id], v)
}

// callDiff is a call that is not in both dumps as it was.
type callDiff struct {
	id       Identity
	newID    Identity // where it is not id
	old, new *variant // nil: only the other dump has the call
	oldCalls int      // how many calls were like old and are no more
	newCalls int
}

// match compares two dumps: calls of equal identity whose facts differ, and calls
// that one of them lacks. Of a call that both have equally often each occurrence
// counts; else only facts that the other side has nowhere.
func match(old, new *Dump) (changed, removed, added []callDiff) {
	renamed := renames(old, new)
	isNew := map[Identity]bool{}
	for _, to := range renamed {
		isNew[to] = true
	}
	for _, id := range identities(old, new) {
		a, b := old.variants[id], new.variants[id]
		to, isOld := renamed[id]
		switch {
		case isOld:
			pairs := pairUp(id, a, new.variants[to])
			if len(pairs) == 0 {
				pairs = []callDiff{{id: id, old: a[0], new: new.variants[to][0], oldCalls: total(a), newCalls: total(new.variants[to])}}
			}
			for _, d := range pairs {
				d.newID = to
				changed = append(changed, d)
			}
		case len(b) == 0:
			for _, v := range a {
				removed = append(removed, callDiff{id: id, newID: id, old: v, oldCalls: v.calls})
			}
		case len(a) == 0 && !isNew[id]:
			for _, v := range b {
				added = append(added, callDiff{id: id, newID: id, new: v, newCalls: v.calls})
			}
		case len(a) > 0:
			changed = append(changed, pairUp(id, a, b)...)
		}
	}
	return changed, removed, added
}

// renames pairs calls that one dump lacks with calls that the other lacks, where
// module, kernel and shapes leave one choice only: another version of JAX calls the
// same kernel through another target, and a change moves it to another function.
func renames(old, new *Dump) map[Identity]Identity {
	gone, come := loose(old, new), loose(new, old)
	out := map[Identity]Identity{}
	for key, a := range gone {
		if b := come[key]; len(a) == 1 && len(b) == 1 && (key.Kernel != "" || a[0].Target == b[0].Target) {
			out[a[0]] = b[0]
		}
	}
	return out
}

// loose groups the identities of a that b lacks by what outlives a rename.
func loose(a, b *Dump) map[Identity][]Identity {
	out := map[Identity][]Identity{}
	for id := range a.variants {
		if _, both := b.variants[id]; !both {
			key := Identity{Module: id.Module, Kernel: id.Kernel, Shapes: id.Shapes}
			out[key] = append(out[key], id)
		}
	}
	return out
}

// surplus is a variant that one side has more of.
type surplus struct {
	v     *variant
	calls int
}

func pairUp(id Identity, old, new []*variant) []callDiff {
	exact := total(old) == total(new)
	gone, come := moreOf(old, new, exact), moreOf(new, old, exact)
	var out []callDiff
	for n := range max(len(gone), len(come)) {
		// What has no counterpart is held against the other side's first.
		d := callDiff{id: id, newID: id, old: old[0], new: new[0]}
		if n < len(gone) {
			d.old, d.oldCalls = gone[n].v, gone[n].calls
		}
		if n < len(come) {
			d.new, d.newCalls = come[n].v, come[n].calls
		}
		out = append(out, d)
	}
	return out
}

// moreOf returns what a has more of than b.
func moreOf(a, b []*variant, exact bool) []surplus {
	var out []surplus
	for _, v := range a {
		n := v.calls
		for _, w := range b {
			if w.key == v.key {
				n -= w.calls
				if !exact {
					n = 0
				}
			}
		}
		if n > 0 {
			out = append(out, surplus{v, n})
		}
	}
	return out
}

func total(list []*variant) int {
	n := 0
	for _, v := range list {
		n += v.calls
	}
	return n
}

func identities(old, new *Dump) []Identity {
	var ids []Identity
	for id := range old.variants {
		ids = append(ids, id)
	}
	for id := range new.variants {
		if _, both := old.variants[id]; !both {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(x, y Identity) int {
		return cmp.Or(strings.Compare(x.Module, y.Module), strings.Compare(x.Kernel, y.Kernel), strings.Compare(x.Target, y.Target),
			strings.Compare(x.File, y.File), strings.Compare(x.Function, y.Function), strings.Compare(x.Shapes, y.Shapes))
	})
	return ids
}

// Change is what differs of one kind of facts.
type Change struct {
	What    string   `json:"what"`
	Removed []string `json:"removed"`
	Added   []string `json:"added"`
}

// changes lists what differs between the two states of a call.
func (d *callDiff) changes() []Change {
	out := []Change{}
	if d.old == nil || d.new == nil {
		return out
	}
	add := func(what string, before, after []string) {
		c := Change{what, without(before, after), without(after, before)}
		if len(c.Removed)+len(c.Added) > 0 {
			out = append(out, c)
		}
	}
	add("call", d.id.lines(), d.newID.lines())
	before, after := d.old.facts.sections(), d.new.facts.sections()
	for n := range before {
		add(before[n].name, before[n].lines, after[n].lines)
	}
	return out
}

// lines are what a rename changes.
func (id *Identity) lines() []string {
	return []string{"target " + id.Target, strings.TrimSpace("made by " + id.File + " " + id.Function)}
}

// without returns the lines of a that b lacks, each as often as it does.
func without(a, b []string) []string {
	left := map[string]int{}
	for _, line := range b {
		left[line]++
	}
	out := []string{}
	for _, line := range a {
		if left[line] > 0 {
			left[line]--
			continue
		}
		out = append(out, line)
	}
	return out
}
