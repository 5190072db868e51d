package tensormap

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	tma "aliascheck/rules/tensormap"

	"github.com/spf13/pflag"
)

// Params are the parameters of one descriptor, as flags.
type Params struct {
	tensorMap, address            string
	rank                          int
	dims, strides, box, steps     string
	interleave, swizzle, l2, fill string
	lower, upper                  string
	channels, pixels              uint64
	names, im2colNames            []string // of the flags of a descriptor
}

// AddFlags adds a flag for each parameter, named as the driver names it.
func (p *Params) AddFlags(f *pflag.FlagSet) {
	text := func(to *string, name, usage string) {
		f.StringVar(to, name, "", usage)
		p.names = append(p.names, name)
	}
	text(&p.dims, "dims", "globalDim: `SIZES` in elements, innermost first")
	text(&p.strides, "strides", "globalStrides: `BYTES` of dimensions 1 and up; none for dimension 0")
	text(&p.box, "box", "boxDim: `SIZES` in elements")
	text(&p.steps, "element-strides", "elementStrides: `STEPS` in elements (default all 1)")
	text(&p.interleave, "interleave", "interleave: none, 16B or 32B (default none)")
	text(&p.swizzle, "swizzle", "swizzle: none, 32B, 64B, 128B, 128B_ATOM_32B, ... (default none)")
	text(&p.l2, "l2-promotion", "l2Promotion: none, 64B, 128B or 256B (default none)")
	text(&p.fill, "oob-fill", "oobFill: none or nan (default none)")
	text(&p.address, "address", "globalAddress: `ADDRESS` of the tensor (default: not known)")
	text(&p.tensorMap, "tensor-map", "`ADDRESS` of the CUtensorMap itself (default: not known)")
	f.IntVar(&p.rank, "rank", 0, "tensorRank (default: as many as --dims)")
	text(&p.lower, "pixel-box-lower", "im2col: pixelBoxLowerCorner `OFFSETS`, W first")
	text(&p.upper, "pixel-box-upper", "im2col: pixelBoxUpperCorner `OFFSETS`, W first")
	f.Uint64Var(&p.channels, "channels-per-pixel", 0, "im2col: channelsPerPixel")
	f.Uint64Var(&p.pixels, "pixels-per-column", 0, "im2col: pixelsPerColumn")
	p.names = append(p.names, "rank", "channels-per-pixel", "pixels-per-column")
	p.im2colNames = []string{"pixel-box-lower", "pixel-box-upper", "channels-per-pixel", "pixels-per-column"}
}

// Given reports whether any flag of a descriptor was.
func (p *Params) Given(f *pflag.FlagSet) bool { return anyChanged(f, p.names) }

func anyChanged(f *pflag.FlagSet, names []string) bool {
	for _, name := range names {
		if f.Changed(name) {
			return true
		}
	}
	return false
}

// Descriptor puts the flags together. Arrays are passed on as given: a wrong number of
// entries is the rules' to judge, but for one mistake that the driver cannot see: as
// many strides as dimensions, of which it reads one less.
func (p *Params) Descriptor(dataType string, f *pflag.FlagSet) (tma.Descriptor, error) {
	d := tma.Descriptor{Known: tma.FieldInterleave | tma.FieldSwizzle | tma.FieldL2Promotion | tma.FieldOOBFill}
	if dataType == "" || p.dims == "" {
		return d, errors.New("a descriptor needs at least --format (its data type), --dims, --strides beyond one dimension, and --box or the im2col flags")
	}
	if anyChanged(f, p.im2colNames) {
		if f.Changed("box") {
			return d, errors.New("--box is for tiled descriptors, the pixel flags are for im2col")
		}
		d.Mode = tma.Im2col
	}
	if err := p.enumerations(&d, dataType); err != nil {
		return d, err
	}
	if err := p.addresses(&d); err != nil {
		return d, err
	}
	return d, p.arrays(&d, f)
}

func (p *Params) enumerations(d *tma.Descriptor, dataType string) (err error) {
	if d.DataType, err = tma.ParseDataType(dataType); err != nil {
		return fmt.Errorf("--format: %w", err)
	}
	d.Known |= tma.FieldDataType
	if p.interleave != "" {
		if d.Interleave, err = tma.ParseInterleave(p.interleave); err != nil {
			return fmt.Errorf("--interleave: %w", err)
		}
	}
	if p.swizzle != "" {
		if d.Swizzle, err = tma.ParseSwizzle(p.swizzle); err != nil {
			return fmt.Errorf("--swizzle: %w", err)
		}
	}
	if p.l2 != "" {
		if d.L2Promotion, err = tma.ParseL2Promotion(p.l2); err != nil {
			return fmt.Errorf("--l2-promotion: %w", err)
		}
	}
	if p.fill != "" {
		if d.OOBFill, err = tma.ParseOOBFill(p.fill); err != nil {
			return fmt.Errorf("--oob-fill: %w", err)
		}
	}
	return nil
}

func (p *Params) addresses(d *tma.Descriptor) (err error) {
	if p.address != "" {
		if d.Address, err = strconv.ParseUint(p.address, 0, 64); err != nil {
			return fmt.Errorf("--address %q is not an address such as 0x7f4c49e08800", p.address)
		}
		d.Known |= tma.FieldAddress
	}
	if p.tensorMap != "" {
		if d.TensorMap, err = strconv.ParseUint(p.tensorMap, 0, 64); err != nil {
			return fmt.Errorf("--tensor-map %q is not an address such as 0x7ffd054484c0", p.tensorMap)
		}
		d.Known |= tma.FieldTensorMap
	}
	return nil
}

// arrays reads the lists. Those that are not given stay unknown, but for element
// strides, which are 1.
func (p *Params) arrays(d *tma.Descriptor, f *pflag.FlagSet) error {
	for _, a := range []struct {
		name, text string
		field      tma.Field
		to         *[]uint64
	}{
		{"dims", p.dims, tma.FieldDims, &d.Dims}, {"strides", p.strides, tma.FieldStrides, &d.Strides},
		{"box", p.box, tma.FieldBox, &d.Box}, {"element-strides", p.steps, tma.FieldElementStrides, &d.ElementStrides},
	} {
		if a.text == "" {
			continue
		}
		values, err := numberList(a.text, func(s string) (uint64, error) { return strconv.ParseUint(s, 0, 64) })
		if err != nil {
			return fmt.Errorf("--%s: %w", a.name, err)
		}
		*a.to, d.Known = values, d.Known|a.field
	}
	d.Rank, d.Known = p.rank, d.Known|tma.FieldRank
	if !f.Changed("rank") {
		d.Rank = len(d.Dims)
	}
	if !d.Has(tma.FieldElementStrides) && d.Rank >= 1 && d.Rank <= tma.MaxRank {
		d.Known |= tma.FieldElementStrides
		for range d.Rank {
			d.ElementStrides = append(d.ElementStrides, 1)
		}
	}
	if d.Rank == 1 && p.strides == "" {
		d.Known |= tma.FieldStrides
	}
	if d.Rank >= 1 && len(d.Strides) == d.Rank {
		d.Strides = d.Strides[:d.Rank-1] // all that the driver reads
	}
	return p.im2col(d, f)
}

func (p *Params) im2col(d *tma.Descriptor, f *pflag.FlagSet) error {
	for _, a := range []struct {
		name, text string
		field      tma.Field
		to         *[]int64
	}{
		{"pixel-box-lower", p.lower, tma.FieldLowerCorner, &d.LowerCorner},
		{"pixel-box-upper", p.upper, tma.FieldUpperCorner, &d.UpperCorner},
	} {
		if a.text == "" {
			continue
		}
		values, err := numberList(a.text, func(s string) (int64, error) { return strconv.ParseInt(s, 0, 64) })
		if err != nil {
			return fmt.Errorf("--%s: %w", a.name, err)
		}
		*a.to, d.Known = values, d.Known|a.field
	}
	if f.Changed("channels-per-pixel") {
		d.ChannelsPerPixel, d.Known = p.channels, d.Known|tma.FieldChannelsPerPixel
	}
	if f.Changed("pixels-per-column") {
		d.PixelsPerColumn, d.Known = p.pixels, d.Known|tma.FieldPixelsPerColumn
	}
	return nil
}

// numberList reads numbers with commas between, in brackets or not.
func numberList[T any](text string, parse func(string) (T, error)) ([]T, error) {
	const most = 16
	words := strings.Split(strings.Trim(strings.TrimSpace(text), "()[]{}"), ",")
	if len(words) > most {
		return nil, fmt.Errorf("%d numbers; at most %d were expected", len(words), most)
	}
	var out []T
	for _, w := range words {
		v, err := parse(strings.TrimSpace(w))
		if err != nil {
			return nil, fmt.Errorf("%q is not a list of whole numbers such as 128,1,32", text)
		}
		out = append(out, v)
	}
	return out, nil
}
