package tensormap

import (
	"errors"
	"fmt"
	"math"

	"aliascheck/cudarun/driver"
	"aliascheck/rules"
	tma "aliascheck/rules/tensormap"
)

// driverAnswer is what the driver of this machine says.
type driverAnswer struct {
	Code  tma.Code `json:"code"`
	Text  string   `json:"text"`
	Error string   `json:"error,omitempty"` // why it could not be asked
	// Differs is set where its verdict is not the rules'.
	Differs string `json:"differs,omitempty"`
}

// Encoder asks a real driver about a descriptor: 0 accepted, else its error code.
type Encoder interface {
	Encode(d *tma.Descriptor) (code int, err error)
	About() string // which driver and device
	Close() error
}

// driverEncoder asks libcuda.
type driverEncoder struct{ e *driver.TensorMapEncoder }

// OpenDriver opens the driver of this machine.
func OpenDriver() (Encoder, error) {
	e, err := driver.OpenTensorMapEncoder(0)
	if err != nil {
		return nil, err
	}
	return driverEncoder{e}, nil
}

func (d driverEncoder) About() string {
	info := d.e.Device()
	return fmt.Sprintf("driver %s (CUDA %s), %s", info.Release, info.Driver, info.Name)
}

func (d driverEncoder) Close() error { return d.e.Close() }

// Encode passes the parameters as they are. What is not known is replaced by a value
// that breaks no rule: an address by one that is aligned.
func (d driverEncoder) Encode(t *tma.Descriptor) (int, error) {
	m := driver.TensorMap{Im2col: t.Mode == tma.Im2col, Skew: t.TensorMap % 64, Address: t.Address,
		Dims: t.Dims, Strides: t.Strides, DataType: uint32(t.DataType), Rank: uint32(t.Rank), Interleave: uint32(t.Interleave),
		Swizzle: uint32(t.Swizzle), L2Promotion: uint32(t.L2Promotion), OOBFill: uint32(t.OOBFill)}
	const mayBeUnknown = tma.FieldTensorMap | tma.FieldAddress | tma.FieldL2Promotion
	if lack := t.Missing() &^ mayBeUnknown; lack != 0 {
		return 0, fmt.Errorf("%s not known", lack)
	}
	if !t.Has(tma.FieldAddress) {
		m.Address = 256
	}
	var errs [6]error
	m.Box, errs[0] = narrow("boxDim", t.Box)
	m.ElementStrides, errs[1] = narrow("elementStrides", t.ElementStrides)
	m.LowerCorner, errs[2] = corner("pixelBoxLowerCorner", t.LowerCorner)
	m.UpperCorner, errs[3] = corner("pixelBoxUpperCorner", t.UpperCorner)
	if t.ChannelsPerPixel > math.MaxUint32 || t.PixelsPerColumn > math.MaxUint32 {
		errs[4] = errors.New("channelsPerPixel or pixelsPerColumn does not fit in 32 bits")
	}
	m.ChannelsPerPixel, m.PixelsPerColumn = uint32(t.ChannelsPerPixel), uint32(t.PixelsPerColumn)
	if t.Rank < 0 || len(t.Dims) < t.Rank || len(t.Strides) < t.Rank-1 {
		errs[5] = errors.New("arrays are shorter than the rank asks for")
	}
	if err := errors.Join(errs[:]...); err != nil {
		return 0, err
	}
	return d.e.Encode(m)
}

func narrow(name string, values []uint64) ([]uint32, error) {
	out := make([]uint32, len(values))
	for i, v := range values {
		if v > math.MaxUint32 {
			return nil, fmt.Errorf("%s[%d] is %d, which the driver's 32 bits cannot take", name, i, v)
		}
		out[i] = uint32(v)
	}
	return out, nil
}

func corner(name string, values []int64) ([]int32, error) {
	out := make([]int32, len(values))
	for i, v := range values {
		if v > math.MaxInt32 || v < math.MinInt32 {
			return nil, fmt.Errorf("%s[%d] is %d, which the driver's 32 bits cannot take", name, i, v)
		}
		out[i] = int32(v)
	}
	return out, nil
}

// AskDriver asks about every descriptor that was read. A driver that cannot be asked
// leaves the report without its verdicts, and not whole.
func (r *Report) AskDriver(open func() (Encoder, error)) {
	e, err := open()
	if err != nil {
		r.incomplete = append(r.incomplete, rules.Incomplete{Path: "--driver", Error: err.Error()})
		return
	}
	r.about = e.About()
	for _, g := range r.groups {
		if g.entry.Kind == tma.Printed {
			g.driver = answer(e, g)
		}
	}
	if err := e.Close(); err != nil {
		r.incomplete = append(r.incomplete, rules.Incomplete{Path: "--driver", Error: err.Error()})
	}
}

// answer asks the driver about one descriptor and compares.
func answer(e Encoder, g *group) *driverAnswer {
	code, err := e.Encode(&g.entry.Descriptor)
	if err != nil {
		return &driverAnswer{Error: err.Error()}
	}
	a := &driverAnswer{Code: tma.Code(code), Text: tma.Code(code).String()}
	switch verdict := g.judgement.Verdict; {
	case code == 0 && verdict == tma.Refused:
		a.Differs = "the driver accepts what the documented rules refuse"
	case code != 0 && verdict == tma.Accepted:
		a.Differs = "the driver refuses what breaks no documented rule"
	case code == 0 && len(g.judgement.Violations) > 0:
		a.Differs = fmt.Sprintf("rule %d is documented, and this driver does not enforce it", g.judgement.Violations[0].Rule)
	}
	return a
}
