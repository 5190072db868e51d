package ptx

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"aliascheck/rules/ptx/syntax"
)

// launch makes the machine's launch of a generated kernel.
func (k *gKernel) launch() (*Launch, error) {
	m, err := syntax.Parse("generated.ptx", []byte(k.text()))
	if err != nil {
		return nil, err
	}
	l := &Launch{Entry: m.Entries[0], Grid: k.grid, Block: k.block, Cluster: k.cluster}
	for i, b := range k.bufs {
		l.Buffers = append(l.Buffers, Buffer{Size: int64(len(b.contents)), Contents: b.contents})
		l.Args = append(l.Args, Arg{Buffer: i, Zero: int64(b.zero)})
	}
	return l, nil
}

// checkKernel holds the machine to the brute-force checker.
func checkKernel(seed uint64) (*brute, error) {
	k := generateKernel(seed)
	l, err := k.launch() // writes the lines into the statements
	if err != nil {
		return nil, err
	}
	b := bruteForce(k)
	var outs [2]*Outcome
	for mode := range outs {
		l.Mode = Mode(mode)
		o, err := Run(context.Background(), l)
		switch {
		case err != nil:
			return b, err
		case !o.Analysed || o.Hang != nil:
			return b, fmt.Errorf("not analysed: %s %+v", o.Reason, o.Hang)
		}
		outs[mode] = o
		if err := b.compare(o); err != nil {
			return b, fmt.Errorf("mode %d: %w", mode, err)
		}
	}
	if k.waits { // who comes last is not who came last by brute force
		return b, nil
	}
	for op := range k.bufs {
		for res := range k.bufs {
			if d := cmp.Diff(outs[0].InPlace(op, res, 0), outs[1].InPlace(op, res, 0)); d != "" {
				return b, fmt.Errorf("sliced and full verdicts differ: %s", d)
			}
		}
	}
	ignored := []string{"Stats", "Contents", "record"}
	if k.parts { // a copy that is late in one order of the threads is not in another; what idle branches ask is kept
		ignored = append(ignored, "LateCopies", "Steered")
	}
	if d := cmp.Diff(outs[0], outs[1], cmpopts.IgnoreFields(Outcome{}, ignored...)); d != "" {
		return b, fmt.Errorf("sliced and full outcomes differ: %s", d)
	}
	if d := cmp.Diff(dump(outs[0]), dump(outs[1])); d != "" && !k.parts {
		return b, fmt.Errorf("sliced and full records differ: %s", d)
	}
	if err := b.unknown(l, outs[0]); err != nil {
		return b, err
	}
	if b.racy() {
		return b, nil
	}
	for i, f := range outs[1].Contents {
		if d := cmp.Diff(b.memory[i], f.Bytes); d != "" || len(f.Opaque) > 0 {
			return b, fmt.Errorf("contents of buffer %d, opaque %v: %s", i, f.Opaque, d)
		}
	}
	return b, nil
}

// unknown holds the machine to what it says of the same launch with known contents: they
// do not matter but for the map's.
func (b *brute) unknown(l *Launch, known *Outcome) error {
	blind := *l
	blind.Buffers = slices.Clone(l.Buffers)
	for i := range blind.Buffers {
		if i != b.k.mapBuf {
			blind.Buffers[i].Contents = nil
		}
	}
	for mode := range Mode(2) {
		blind.Mode = mode
		o, err := Run(context.Background(), &blind)
		if err != nil || !o.Analysed {
			return fmt.Errorf("unknown contents, mode %d: %v %+v", mode, err, o)
		}
		if d := cmp.Diff(known, o, cmpopts.IgnoreFields(Outcome{}, "Stats", "Contents", "LateCopies", "Steered", "record")); d != "" {
			return fmt.Errorf("outcomes of known and unknown contents differ, mode %d: %s", mode, d)
		}
		for i, f := range o.Contents {
			for k, x := range f.Bytes {
				if !b.racy() && x != b.memory[i][k] && !slices.ContainsFunc(f.Opaque, func(r Range) bool { return r.Start <= int64(k) && int64(k) < r.End }) {
					return fmt.Errorf("byte %d of buffer %d is %d, said to be %d though contents are not known", k, i, b.memory[i][k], x)
				}
			}
		}
	}
	return nil
}

// compare holds one outcome to the checker.
func (b *brute) compare(o *Outcome) error {
	if b.k.waits {
		return b.waiting(o)
	}
	var from []int
	if b.gathers {
		from = []int{b.k.mapBuf}
	}
	b.crowded = o.record.s.crowded.Load() // which the machine owns up to
	if o.Complete == (b.gathers || b.crowded) || !slices.Equal(o.AddressFrom, from) || len(o.OutOfBounds) > 0 {
		return fmt.Errorf("complete %v, addresses from %v, want %v, out of bounds %+v", o.Complete, o.AddressFrom, from, o.OutOfBounds)
	}
	for op := range b.k.bufs {
		for res := range b.k.bufs {
			for _, shift := range []int{0, 4, -64, 100} {
				v := o.InPlace(op, res, int64(shift))
				want := Safe
				if b.unsafe(op, res, shift) {
					want = Unsafe
				}
				if b.crowded && want == Safe && v.Safety == Unknown {
					continue
				}
				if want != v.Safety {
					return fmt.Errorf("operand %d, result %d, shift %d: want %v, got %v: %s %+v", op, res, shift, want, v.Safety, v.Reason, v.Witness)
				}
				if v.Witness == nil {
					continue
				}
				if err := b.witnessed(op, res, shift, v.Witness); err != nil {
					return fmt.Errorf("operand %d, result %d, shift %d: %w", op, res, shift, err)
				}
			}
		}
	}
	for i := range b.k.bufs {
		want, got := b.effects(i), o.Effects[i]
		if d := cmp.Diff(want, got, cmpopts.IgnoreFields(Effects{}, "ReadFirst", "OldRead", "Elsewhere", "FirstRead", "ReadBy", "WrittenBy", "Reaches")); d != "" {
			return fmt.Errorf("effects of buffer %d: %s", i, d)
		}
		if err := b.firsts(i, want, got); err != nil {
			return err
		}
	}
	return nil
}

// waiting holds what is said of a kernel that waits for shared memory to one order of its
// threads, in which nobody learns anything by waiting: what is safe must be safe there,
// and what is unsafe must be so among blocks, which have no shared memory in common.
func (b *brute) waiting(o *Outcome) error {
	for op := range b.k.bufs {
		for res := range b.k.bufs {
			for _, shift := range []int{0, 4, -64, 100} {
				v := o.InPlace(op, res, int64(shift))
				unsafe := b.unsafe(op, res, shift)
				if v.Safety == Safe && unsafe || v.Safety == Unsafe && !unsafe {
					return fmt.Errorf("waiting: operand %d, result %d, shift %d: unsafe %v, got %v %s %+v, order by memory %+v", op, res, shift, unsafe, v.Safety, v.Reason, v.Witness, o.MemoryOrder)
				}
			}
		}
	}
	return nil
}

// firsts compares what is read first. The record keeps, of each byte, two
// clusters and the last of a cluster's ordered reads, and threads that touch it
// by one instruction count as one: where that is not all that happened the
// answer may err on the side of reading first.
func (b *brute) firsts(buf int, want, got Effects) error {
	has := func(rs []Range, i int64) bool {
		return slices.ContainsFunc(rs, func(r Range) bool { return r.Start <= i && i < r.End })
	}
	for i := range int64(len(b.k.bufs[buf].contents)) {
		few, lone := b.kept(touchKey{buf, -1, int(i)})
		wf, gf := has(want.ReadFirst, i), has(got.ReadFirst, i)
		if wf && !gf || few && wf != gf {
			return fmt.Errorf("byte %d of buffer %d: read first %v, got %v", i, buf, wf, gf)
		}
		if we, ge := has(want.Elsewhere, i), has(got.Elsewhere, i); few && lone && we != ge {
			return fmt.Errorf("byte %d of buffer %d: may be written elsewhere %v, got %v", i, buf, we, ge)
		}
	}
	return nil
}

// kept says that the record keeps every write that counts for a byte, and that
// no two reads of a cluster stand for each other.
func (b *brute) kept(key touchKey) (few, lone bool) {
	clusters, readers := map[int]bool{}, map[int]bool{}
	few, lone = true, true
	for i, x := range b.deeds[key] {
		c := x.cta / b.k.ranks()
		clusters[c] = true
		if x.dir != writes {
			lone = lone && !readers[c] && x.end == x.own
			readers[c] = true
			continue
		}
		for _, y := range b.deeds[key][:i] {
			few = few && (y.dir != writes || b.before(x, y) || b.before(y, x))
		}
	}
	return few && len(clusters) <= 2, lone
}

// TestBruteForce holds the machine to the checker on many kernels, and the
// generator to making what is worth checking.
func TestBruteForce(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long: make test runs it")
	}
	racefree, unsafe, safe, crowded := 0, 0, 0, 0
	for seed := range uint64(400) {
		b, err := checkKernel(seed)
		if !assert.NoError(t, err, "seed %d", seed) {
			continue
		}
		racefree += int(b2u(!b.racy()))
		crowded += int(b2u(b.crowded))
		for op := 1; op < 4; op++ {
			for res := 1; res < 4; res++ {
				if len(b.effects(op).Read) == 0 || len(b.effects(res).Written) == 0 {
					continue
				}
				if b.unsafe(op, res, 0) {
					unsafe++
				} else {
					safe++
				}
			}
		}
	}
	t.Logf("%d kernels without races; of pairs that meet %d unsafe, %d safe", racefree, unsafe, safe)
	require.LessOrEqual(t, crowded, 4)
	require.Greater(t, racefree, 40)
	require.Greater(t, unsafe, 100)
	require.Greater(t, safe, 100)
}

func FuzzGenerated(f *testing.F) {
	for seed := range uint64(10) {
		f.Add(seed)
	}
	f.Add(uint64(844))  // atomic updates in a loop: the last of them reads, the first of them writes
	f.Add(uint64(429))  // a line of which 64 threads each touch a byte, again and again
	f.Add(uint64(1201)) // copies of no bytes from addresses out of memory
	f.Fuzz(func(t *testing.T, seed uint64) {
		_, err := checkKernel(seed)
		require.NoError(t, err, "%s", generateKernel(seed).text())
	})
}
