package cudarun

import (
	"fmt"
	"time"

	"aliascheck/cudarun/driver"
)

// A replay takes all its memory at once, so that it either fits or says clearly
// that the card is full, and gives it back at once.

const (
	guardBytes = 64 << 10
	guardValue = 0xC3
	// fullTries and fullPause: another worker on the card may be about to end.
	fullTries = 3
	fullPause = 200 * time.Millisecond
)

// arena is one allocation, handed out in pieces aligned to layoutAlign.
type arena struct {
	dev  driver.Device
	base driver.Address
	size int64
	used int64
}

// newArena allocates bytes on the card.
func newArena(dev driver.Device, bytes int64) (*arena, error) {
	var base driver.Address
	var err error
	for try := range fullTries {
		if try > 0 {
			time.Sleep(fullPause)
		}
		if base, err = dev.Alloc(bytes); !driver.IsFull(err) {
			break
		}
	}
	if driver.IsFull(err) {
		free, total, _ := dev.Memory()
		return nil, fmt.Errorf("the card is full: the replay needs %s, %s of %s are free", mebibytes(bytes), mebibytes(free), mebibytes(total))
	}
	if err != nil {
		return nil, err
	}
	return &arena{dev: dev, base: base, size: bytes}, nil
}

// take hands out the next piece. A piece that was not planned for is a mistake of
// this package, and shows as an error rather than as a write into other memory.
func (a *arena) take(bytes int64) (driver.Address, error) {
	if bytes < 0 || bytes > a.size-a.used {
		return 0, fmt.Errorf("%d bytes were not planned for", bytes)
	}
	at := a.base + driver.Address(a.used)
	a.used += roundUp(bytes)
	return at, nil
}

func (a *arena) close() error { return a.dev.Free(a.base) }

func roundUp(bytes int64) int64 {
	return (bytes + layoutAlign - 1) / layoutAlign * layoutAlign
}

func mebibytes(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }

// span is how much memory a layout takes, guard bands included: a band, a group,
// the padding that belongs to the next band, ..., and a last band.
func (l layout) span() int64 {
	n := int64(guardBytes)
	for _, g := range l.groups {
		n += roundUp(g.bytes) + guardBytes
	}
	return n
}

// placed is a layout at an address.
type placed struct {
	layout
	base    driver.Address
	starts  []driver.Address // of the groups
	buffers []driver.Address
}

// at puts the layout at base.
func (l layout) at(base driver.Address) placed {
	p := placed{layout: l, base: base, starts: make([]driver.Address, len(l.groups)), buffers: make([]driver.Address, len(l.places))}
	next := base + guardBytes
	for i, g := range l.groups {
		p.starts[i] = next
		next += driver.Address(roundUp(g.bytes) + guardBytes)
	}
	for i, place := range l.places {
		p.buffers[i] = p.starts[place.Group] + driver.Address(place.Offset)
	}
	return p
}

// band is memory between two groups that nobody may write.
type band struct {
	from, to      driver.Address
	before, after int // the groups on its two sides, -1: none
}

// bands are all guard bands of the layout.
func (p placed) bands() []band {
	bands := make([]band, 0, len(p.groups)+1)
	from, before := p.base, -1
	for i, g := range p.groups {
		bands = append(bands, band{from, p.starts[i], before, i})
		from, before = p.starts[i]+driver.Address(g.bytes), i
	}
	return append(bands, band{from, p.base + driver.Address(p.span()), before, -1})
}

// memoryPlan is what a replay needs of the card, in bytes.
func (p *Plan) memoryPlan() int64 {
	n := roundUp(reportBytes) + p.regionBytes()
	most := int64(0)
	for _, b := range p.Buffers {
		switch {
		case b.Role == Result:
			n += 3 * roundUp(b.Bytes) // the reference, under three poisons
			most = max(most, b.Bytes)
		case b.Contents != nil:
			n += roundUp(b.Bytes)
			most = max(most, b.Bytes)
		}
		if b.Role == Operand && p.Trials != nil {
			n += roundUp(b.Bytes) // what the autotuner saves
		}
	}
	return n + roundUp(most) + roundUp(p.scratchBytes())
}

// regionBytes is room for every layout of the plan, one at a time.
func (p *Plan) regionBytes() int64 {
	n := int64(0)
	for i := range p.Kernels {
		n = max(n, p.apartLayout(&p.Kernels[i]).span())
	}
	if p.Shared != nil {
		n = max(n, p.sharedLayout().span())
	}
	return roundUp(n)
}

// scratchBytes is the most scratch that a kernel takes, with room to align it.
func (p *Plan) scratchBytes() int64 {
	most := int64(0)
	for i := range p.Kernels {
		sum := int64(0)
		for _, param := range p.Kernels[i].Params {
			if param.Kind == ParamScratch && param.Bytes > 0 {
				sum += param.Bytes + max(param.Align, layoutAlign)
			}
		}
		most = max(most, sum)
	}
	return most
}
