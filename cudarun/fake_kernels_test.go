package cudarun

import (
	"encoding/binary"
	"math"

	"aliascheck/cudarun/driver"
	"aliascheck/cudarun/internal/process"
	"aliascheck/cudarun/kernels"
)

// fakeCall is a launch as a fake kernel sees it.
type fakeCall struct {
	d     *fakeDevice
	l     driver.Launch
	where driver.Part
}

func (c *fakeCall) u64(n int) uint64 { return binary.LittleEndian.Uint64(c.l.Params[n]) }
func (c *fakeCall) u32(n int) uint32 { return binary.LittleEndian.Uint32(c.l.Params[n]) }

// at is memory behind pointer parameter n, from a byte offset on; outside of all
// memory it faults.
func (c *fakeCall) at(n int, offset, bytes int64) []byte {
	m := c.d.view(driver.Address(int64(c.u64(n))+offset), bytes)
	if m == nil {
		panic(fakeStop{fakeError("cuEventQuery", driver.CodeIllegalAddress)})
	}
	return m
}

func (c *fakeCall) f32(n, i int) float32 {
	return math.Float32frombits(binary.LittleEndian.Uint32(c.at(n, int64(4*i), 4)))
}

func (c *fakeCall) setF32(n, i int, v float32) {
	binary.LittleEndian.PutUint32(c.at(n, int64(4*i), 4), math.Float32bits(v))
}

func (c *fakeCall) i32(n, i int) int {
	return int(int32(binary.LittleEndian.Uint32(c.at(n, int64(4*i), 4))))
}

// fakeKernels are the kernels that the fake card knows; x, y, ... are pointers,
// the last parameter is the number of elements.
func fakeKernels() map[string]func(*fakeCall) {
	each := func(f func(c *fakeCall, i, n int)) func(*fakeCall) {
		return func(c *fakeCall) {
			n := int(c.u32(len(c.l.Params) - 1))
			for i := range n {
				f(c, i, n)
			}
		}
	}
	return map[string]func(*fakeCall){
		kernels.Compare: fakeCompare, kernels.Magnitude: fakeMagnitude, kernels.Guard: fakeGuard,
		"described": each(func(c *fakeCall, i, _ int) { c.setF32(1, i, 3*c.f32(0, i)) }),
		"scale":     each(func(c *fakeCall, i, _ int) { c.setF32(1, i, 3*c.f32(0, i)) }),
		"reverse":   each(func(c *fakeCall, i, n int) { c.setF32(1, i, c.f32(0, n-1-i)) }),
		// on the whole card all blocks read before any writes: the hazard hides
		"hidden": func(c *fakeCall) {
			n := int(c.u32(2))
			all := make([]float32, n)
			for i := range n {
				all[i] = c.f32(0, n-1-i)
			}
			for i := range n {
				if c.where == driver.ConfinedPart {
					all[i] = c.f32(0, n-1-i)
				}
				c.setF32(1, i, all[i])
			}
		},
		"mutate": each(func(c *fakeCall, i, _ int) { c.setF32(1, i, 2*c.f32(0, i)); c.setF32(0, i, 0) }),
		"half": each(func(c *fakeCall, i, n int) {
			if i < n/2 {
				c.setF32(1, i, c.f32(0, i))
			}
		}),
		"add":    each(func(c *fakeCall, i, _ int) { c.setF32(1, i, c.f32(1, i)+c.f32(0, i)) }),
		"inside": each(func(c *fakeCall, i, _ int) { c.setF32(0, i, 2*c.f32(0, i)) }), // no pointer to its result
		"flaky": each(func(c *fakeCall, i, _ int) {
			v := c.f32(0, i)
			if i%7 == 0 {
				v += float32(c.d.runs)
			}
			c.setF32(1, i, v)
		}),
		"sum": each(func(c *fakeCall, i, _ int) { c.setF32(1, i, c.f32(0, i)*(1+1e-7*float32(c.d.runs))) }),
		"stray": func(c *fakeCall) {
			n := int(c.u32(2))
			for i := range n {
				c.setF32(1, i, c.f32(0, i))
			}
			c.setF32(1, n+2, 1)
			c.setF32(0, -1, 1)
		},
		"gather": each(func(c *fakeCall, i, _ int) { c.setF32(2, i, c.f32(0, c.i32(1, i))) }),
		"fault":  func(c *fakeCall) { panic(fakeStop{fakeError("cuEventQuery", driver.CodeLaunchFailed)}) },
		"hang":   func(c *fakeCall) { panic(fakeStop{driver.ErrHang}) },
		"crowd": func(c *fakeCall) { // needs all its blocks at once
			if c.where == driver.ConfinedPart {
				panic(fakeStop{driver.ErrHang})
			}
			n := int(c.u32(2))
			for i := range n {
				c.setF32(1, i, c.f32(0, i))
			}
		},
		"refused": func(c *fakeCall) { panic(fakeStop{fakeError("cuLaunchKernel", driver.CodeOutOfResources)}) },
		"stuck":   func(c *fakeCall) { <-c.d.stuck },
		"dies":    func(c *fakeCall) { process.EndSelf() },
		"rich":    func(c *fakeCall) {},
	}
}

// fakeCompare does what aliascheck_compare does.
func fakeCompare(c *fakeCall) {
	chunks, cell := int64(c.u64(4)), int64(c.u64(5))
	e := element{elementKind(c.u32(7)), c.u32(8)}
	t := tolerance{math.Float64frombits(c.u64(9)), math.Float64frombits(c.u64(10))}
	got, want := c.at(0, 0, chunks*chunkBytes), [][]byte{c.at(1, 0, chunks*chunkBytes)}
	if c.u64(2) != 0 {
		want = append(want, c.at(2, 0, chunks*chunkBytes), c.at(3, 0, chunks*chunkBytes))
	}
	for i := int64(0); i < chunks*chunkBytes; i += e.bytes() {
		differs, by, masked := differsAt(got, want, i, e, t)
		switch {
		case masked:
			c.bump(6, fieldMasked, 1)
		case differs:
			c.bump(6, fieldCount, 1)
			c.least(6, fieldFirst, uint64(i/e.bytes()))
			c.bump(6, fieldCells+int(i/chunkBytes/cell), 1)
			if math.IsNaN(by) {
				c.bump(6, fieldNonFinite, 1)
			} else {
				c.most(6, fieldLargest, math.Float64bits(by))
			}
		}
	}
}

func fakeMagnitude(c *fakeCall) {
	e := element{elementKind(c.u32(3)), c.u32(4)}
	n := int64(c.u64(1))
	b := c.at(0, 0, n*e.bytes())
	for i := range n {
		if v := math.Abs(e.number(b[i*e.bytes():])); !math.IsNaN(v) && !math.IsInf(v, 0) {
			c.most(2, fieldLargest, math.Float64bits(v))
		}
	}
}

func fakeGuard(c *fakeCall) {
	for i, v := range c.at(0, 0, int64(c.u64(1))) {
		if uint32(v) != c.u32(3) {
			c.bump(2, fieldCount, 1)
			c.least(2, fieldFirst, uint64(i))
			c.most(2, fieldLargest, uint64(i))
		}
	}
}

func (c *fakeCall) field(n, f int) (uint64, []byte) {
	b := c.at(n, int64(8*f), 8)
	return binary.LittleEndian.Uint64(b), b
}

func (c *fakeCall) bump(n, f int, by uint64) {
	v, b := c.field(n, f)
	binary.LittleEndian.PutUint64(b, v+by)
}

func (c *fakeCall) least(n, f int, v uint64) {
	old, b := c.field(n, f)
	binary.LittleEndian.PutUint64(b, min(old, v))
}

func (c *fakeCall) most(n, f int, v uint64) {
	old, b := c.field(n, f)
	binary.LittleEndian.PutUint64(b, max(old, v))
}
