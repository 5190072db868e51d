package cudarun

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"time"

	"aliascheck/cudarun/driver"
	"aliascheck/cudarun/kernels"
)

// The report of the helper kernels: eight-byte fields, by number.
const (
	fieldCount     = 0
	fieldMasked    = 1
	fieldNonFinite = 2
	fieldFirst     = 3
	fieldLargest   = 4
	fieldCells     = 5
	mapCells       = 64
	reportBytes    = (fieldCells + mapCells) * 8
)

const (
	chunkBytes     = 16 // what the compare kernel reads at once
	maxSpots       = 8  // first places that a Difference lists
	spotWindow     = 64 << 10
	helperDeadline = time.Minute
	helperBlocks   = 8 // blocks a multiprocessor
)

// comparer runs the helper kernels on a device.
type comparer struct {
	dev       driver.Device
	image     driver.Module
	compare   driver.Function
	magnitude driver.Function
	guard     driver.Function
	report    driver.Address // reportBytes
	blocks    uint32
	spent     time.Duration
}

// newComparer loads the helper kernels; report is reportBytes of the card's memory.
func newComparer(dev driver.Device, report driver.Address) (*comparer, error) {
	c := &comparer{dev: dev, report: report, blocks: uint32(max(dev.Info().SMs, 1) * helperBlocks)}
	var err error
	if c.image, err = dev.Load([]byte(kernels.PTX), false); err != nil {
		return nil, fmt.Errorf("helper kernels: %w", err)
	}
	for _, f := range []struct {
		name string
		to   *driver.Function
	}{{kernels.Compare, &c.compare}, {kernels.Magnitude, &c.magnitude}, {kernels.Guard, &c.guard}} {
		if *f.to, err = dev.Function(c.image, f.name, 0); err != nil {
			_ = dev.Unload(c.image)
			return nil, fmt.Errorf("helper kernels: %w", err)
		}
	}
	return c, nil
}

func (c *comparer) close() error { return c.dev.Unload(c.image) }

// reference is what a buffer is compared with. Where there are three, an element
// counts only if the three agree.
type reference []driver.Address

// bytes compares bytes at x, 16-aligned, with as many at the references.
func (c *comparer) bytes(x driver.Address, ref reference, bytes int64, e element, t tolerance) (Difference, error) {
	e = e.fit(bytes)
	d := Difference{Unit: "elements", Of: bytes / e.bytes(), First: -1}
	if e.kind == kindBits {
		d.Unit = "bytes"
	}
	chunks := bytes / chunkBytes
	cell := max((chunks+mapCells-1)/mapCells, 1)
	if chunks > 0 {
		if err := c.launchCompare(x, ref, chunks, cell, e, t, &d); err != nil {
			return d, err
		}
	}
	if err := c.tail(x, ref, chunks*chunkBytes, bytes, e, t, &d); err != nil {
		return d, err
	}
	if d.Count == 0 {
		d.Map = nil
		return d, nil
	}
	return d, c.spots(x, ref, bytes, e, t, &d)
}

func (c *comparer) launchCompare(x driver.Address, ref reference, chunks, cell int64, e element, t tolerance, d *Difference) error {
	var second, third driver.Address
	if len(ref) == 3 {
		second, third = ref[1], ref[2]
	}
	fields, err := c.run(c.compare,
		u64(uint64(x)), u64(uint64(ref[0])), u64(uint64(second)), u64(uint64(third)),
		u64(uint64(chunks)), u64(uint64(cell)), u64(uint64(c.report)),
		u32(uint32(e.kind)), u32(e.log), u64(math.Float64bits(t.relative)), u64(math.Float64bits(t.absolute)))
	if err != nil {
		return err
	}
	d.Count = asInt64(fields[fieldCount])
	d.Masked = asInt64(fields[fieldMasked])
	d.NonFinite = asInt64(fields[fieldNonFinite])
	d.Largest = math.Float64frombits(fields[fieldLargest])
	if d.Count > 0 {
		d.First = asInt64(fields[fieldFirst])
	}
	d.Map = make([]int64, mapCells)
	for i := range d.Map {
		d.Map[i] = asInt64(fields[fieldCells+i])
	}
	return nil
}

// run clears the report, runs a helper over the card and reads the report.
func (c *comparer) run(f driver.Function, params ...[]byte) ([]uint64, error) {
	raw := make([]byte, reportBytes)
	binary.LittleEndian.PutUint64(raw[8*fieldFirst:], math.MaxUint64)
	if err := c.dev.Upload(c.report, raw); err != nil {
		return nil, err
	}
	l := driver.Launch{Function: f, Grid: [3]uint32{c.blocks, 1, 1}, Block: [3]uint32{kernels.Threads, 1, 1}, Params: params}
	took, err := c.dev.Run(l, driver.WholeCard, helperDeadline)
	c.spent += took
	if err != nil {
		return nil, fmt.Errorf("helper %s: %w", f.Entry, err)
	}
	if err := c.dev.Download(raw, c.report); err != nil {
		return nil, err
	}
	fields := make([]uint64, reportBytes/8)
	for i := range fields {
		fields[i] = binary.LittleEndian.Uint64(raw[8*i:])
	}
	return fields, nil
}

// tail compares the last bytes, fewer than a chunk, on the host.
func (c *comparer) tail(x driver.Address, ref reference, from, to int64, e element, t tolerance, d *Difference) error {
	if from == to {
		return nil
	}
	got, want, err := c.fetch(x, ref, from, to)
	if err != nil {
		return err
	}
	for i := int64(0); i < to-from; i += e.bytes() {
		differs, by, masked := differsAt(got, want, i, e, t)
		switch {
		case masked:
			d.Masked++
		case differs:
			d.Count++
			if d.First < 0 {
				d.First = (from + i) / e.bytes()
			}
			if math.IsNaN(by) {
				d.NonFinite++
			} else {
				d.Largest = max(d.Largest, by)
			}
			if d.Map == nil {
				d.Map = make([]int64, mapCells)
			}
			d.Map[mapCells-1]++
		}
	}
	return nil
}

// fetch downloads bytes [from, to) of a buffer and its references.
func (c *comparer) fetch(x driver.Address, ref reference, from, to int64) ([]byte, [][]byte, error) {
	got := make([]byte, to-from)
	if err := c.dev.Download(got, x+driver.Address(from)); err != nil {
		return nil, nil, err
	}
	want := make([][]byte, len(ref))
	for k := range ref {
		want[k] = make([]byte, to-from)
		if err := c.dev.Download(want[k], ref[k]+driver.Address(from)); err != nil {
			return nil, nil, err
		}
	}
	return got, want, nil
}

// differsAt compares the element at byte i of downloaded bytes.
func differsAt(got []byte, want [][]byte, i int64, e element, t tolerance) (differs bool, by float64, masked bool) {
	differs, by = e.unequal(got[i:], want[0][i:], t)
	if !differs {
		return false, 0, false
	}
	for _, other := range want[1:] {
		if moved, _ := e.unequal(other[i:], want[0][i:], t); moved {
			return false, 0, true
		}
	}
	return true, by, false
}

// spots lists the first places, from a window of bytes that begins at the first.
func (c *comparer) spots(x driver.Address, ref reference, bytes int64, e element, t tolerance, d *Difference) error {
	from := d.First * e.bytes()
	to := min(from+spotWindow, bytes)
	got, want, err := c.fetch(x, ref, from, to)
	if err != nil {
		return err
	}
	for i := int64(0); i < to-from && len(d.Places) < maxSpots; i += e.bytes() {
		if differs, _, _ := differsAt(got, want, i, e, t); differs {
			d.Places = append(d.Places, Spot{
				Index: (from + i) / e.bytes(),
				Want:  hex.EncodeToString(want[0][i : i+e.bytes()]),
				Got:   hex.EncodeToString(got[i : i+e.bytes()]),
			})
		}
	}
	return nil
}

// largest is the largest finite magnitude of a buffer's elements.
func (c *comparer) largest(x driver.Address, bytes int64, e element) (float64, error) {
	e = e.fit(bytes)
	fields, err := c.run(c.magnitude, u64(uint64(x)), u64(uint64(bytes/e.bytes())), u64(uint64(c.report)), u32(uint32(e.kind)), u32(e.log))
	if err != nil {
		return 0, err
	}
	return math.Float64frombits(fields[fieldLargest]), nil
}

// band looks for bytes that do not hold the value: how many, the first, the last.
func (c *comparer) band(at driver.Address, bytes int64, value byte) (count, first, last int64, err error) {
	fields, err := c.run(c.guard, u64(uint64(at)), u64(uint64(bytes)), u64(uint64(c.report)), u32(uint32(value)))
	if err != nil {
		return 0, 0, 0, err
	}
	return asInt64(fields[fieldCount]), asInt64(fields[fieldFirst]), asInt64(fields[fieldLargest]), nil
}

func u64(n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, n) }
func u32(n uint32) []byte { return binary.LittleEndian.AppendUint32(nil, n) }

// asInt64 is a count as the card holds it; what no int64 holds is the largest one.
func asInt64(n uint64) int64 {
	return int64(min(n, math.MaxInt64))
}
