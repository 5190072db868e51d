package tensormap

import (
	"fmt"
	"sort"
	"strings"
)

// Verdict is what the driver will answer.
type Verdict string

// The verdicts.
const (
	// Accepted: no enforced rule is broken. Conditions says what must also hold of
	// addresses that are not known.
	Accepted Verdict = "accepted"
	// Refused: a rule is broken; the driver returns CUDA_ERROR_INVALID_VALUE.
	Refused Verdict = "refused"
	// Undecided: nothing known breaks a rule, but what is missing might.
	Undecided Verdict = "undecided"
)

// Violation is one rule broken by one value.
type Violation struct {
	Rule      int    `json:"rule"`      // number of the rule, see [RuleText]; 0 for a check of the caller's own
	Parameter string `json:"parameter"` // as the driver's documentation names it: "globalStrides[0]"
	Value     string `json:"value"`
	Needs     string `json:"needs"` // "a multiple of 16"
	Why       string `json:"why"`
	// Enforced is false for a rule that is documented and that the driver was
	// measured not to enforce.
	Enforced bool `json:"enforced"`
}

// Remark is something worth saying that refuses nothing.
type Remark struct {
	Rule int    `json:"rule"` // 0 where no rule speaks of it
	Text string `json:"text"`
}

// Unchecked is a rule that could not be held against the descriptor.
type Unchecked struct {
	Rule   int    `json:"rule"`
	Reason string `json:"reason"`
}

// Judgement is everything that the rules have to say about one descriptor.
type Judgement struct {
	Verdict    Verdict     `json:"verdict"`
	Violations []Violation `json:"violations"`
	Remarks    []Remark    `json:"remarks"`
	Unchecked  []Unchecked `json:"unchecked"`
	// Conditions are left where only addresses are unknown: "globalAddress must be
	// a multiple of 16".
	Conditions []string `json:"conditions"`
	Cause      Cause    `json:"cause"`
	Fix        *Fix     `json:"fix,omitempty"`
}

// Rules lists the numbers of the enforced rules that are broken, each once, rising.
func (j Judgement) Rules() []int {
	seen := map[int]bool{}
	out := []int{}
	for _, v := range j.Violations {
		if v.Enforced && !seen[v.Rule] {
			seen[v.Rule] = true
			out = append(out, v.Rule)
		}
	}
	sort.Ints(out)
	return out
}

// Judge holds a descriptor to every rule. It never fails: what is not known is
// listed as unchecked, and numbers may be anything.
func Judge(d Descriptor) Judgement {
	j := check(d)
	if j.Verdict == Refused {
		j.Cause = probableCause(&d, &j)
		j.Fix = repair(d, &j)
	}
	return j
}

// check is Judge without cause and repair: what a repair is re-checked by.
func check(d Descriptor) Judgement {
	c := checker{d: &d, out: Judgement{
		Violations: []Violation{}, Remarks: []Remark{}, Unchecked: []Unchecked{}, Conditions: []string{},
	}}
	c.enumerators()
	if !c.rank() {
		return c.finish()
	}
	c.tensorMap()
	c.address()
	c.dims()
	c.strides()
	if d.Mode == Im2col {
		c.im2col()
	} else {
		c.box()
		c.innerBox(FieldBox, "boxDim[0]", d.boxInner())
	}
	c.elementStrides()
	c.packed()
	c.layout()
	c.fill()
	return c.finish()
}

// boxInner is boxDim[0], or 0 where there is none.
func (d *Descriptor) boxInner() uint64 {
	if len(d.Box) == 0 {
		return 0
	}
	return d.Box[0]
}

// checker collects what the checks say about one descriptor.
type checker struct {
	d       *Descriptor
	out     Judgement
	missing Field // fields whose absence left a rule unchecked
}

// breaks reports one broken rule.
func (c *checker) breaks(rule int, parameter string, value any, needs string) {
	c.out.Violations = append(c.out.Violations, Violation{
		Rule: rule, Parameter: parameter, Value: fmt.Sprint(value), Needs: needs, Why: why(rule), Enforced: rule != 12,
	})
}

func (c *checker) remark(rule int, format string, args ...any) {
	c.out.Remarks = append(c.out.Remarks, Remark{Rule: rule, Text: fmt.Sprintf(format, args...)})
}

// needs reports whether the fields are known, and notes the rule as unchecked
// where they are not.
func (c *checker) needs(rule int, f Field) bool {
	if c.d.Has(f) {
		return true
	}
	lack := f &^ c.d.Known
	c.missing |= lack
	c.out.Unchecked = append(c.out.Unchecked, Unchecked{Rule: rule, Reason: lack.String() + " not known"})
	return false
}

// unclear notes a rule that a known but strange value leaves open.
func (c *checker) unclear(rule int, f Field, format string, args ...any) {
	c.missing |= f
	c.out.Unchecked = append(c.out.Unchecked, Unchecked{Rule: rule, Reason: fmt.Sprintf(format, args...)})
}

// finish sets the verdict.
func (c *checker) finish() Judgement {
	j := c.out
	for _, v := range j.Violations {
		if v.Enforced {
			j.Verdict = Refused
			return j
		}
	}
	const addresses = FieldTensorMap | FieldAddress
	if c.missing&^addresses != 0 {
		j.Verdict = Undecided
		return j
	}
	j.Verdict = Accepted
	if c.missing&FieldAddress != 0 {
		j.Conditions = append(j.Conditions, fmt.Sprintf("globalAddress must not be NULL and must be a multiple of %d", c.d.addressUnit()))
	}
	if c.missing&FieldTensorMap != 0 {
		j.Conditions = append(j.Conditions, "the CUtensorMap itself must lie at a multiple of 64 bytes")
	}
	return j
}

// RuleText is the documented rule of a number from 1 to 18, in one sentence; "" for
// any other. The numbers are this project's; the rules are the CUDA driver API's,
// group CUDA_TENSOR_MEMORY.
func RuleText(rule int) string {
	text := []string{1: "the CUtensorMap lies at a multiple of 64 bytes",
		2:  "tensorRank is 1 to 5, and 3 to 5 where interleave is not NONE",
		3:  "globalAddress is a multiple of 16 bytes (32 with interleave 32B and for 16U4_ALIGN16B and 16U6_ALIGN16B)",
		4:  "each globalDim is 1 to 2^32",
		5:  "globalDim[0] is a multiple of 128 for 16U4_ALIGN16B and 16U6_ALIGN16B, and of 2 for 16U4_ALIGN8B",
		6:  "each globalStrides entry is a multiple of 16 bytes and below 2^40, also for a dimension of size 1",
		7:  "each globalStrides entry is a multiple of 32 bytes with interleave 32B and for 16U4_ALIGN16B and 16U6_ALIGN16B",
		8:  "strides need not grow from dimension to dimension",
		9:  "each boxDim is 1 to 256",
		10: "boxDim[0] times the element size is a multiple of 16 bytes where interleave is NONE",
		11: "each elementStrides entry is 1 to 8; the first is ignored where interleave is NONE",
		12: "interleave 32B requires swizzle 32B",
		13: "the inner width of the box is at most the swizzle's span where interleave is NONE",
		14: "16U6_ALIGN16B and 16U4_ALIGN16B take only certain swizzle modes, and 16U6_ALIGN16B no interleave",
		15: "oobFill NaN is for floating types only",
		16: "boxDim[0] is 128 for 16U4_ALIGN16B and 16U6_ALIGN16B",
		17: "globalAddress is not NULL",
		18: "im2col: rank 3 to 5, box corners in range and not empty, channelsPerPixel 1 to 256, pixelsPerColumn at most 1024",
	}
	if rule < 1 || rule >= len(text) {
		return ""
	}
	return text[rule]
}

// why says why the hardware wants a rule.
func why(rule int) string {
	switch rule {
	case 1:
		return "the TMA unit fetches the descriptor in aligned 64-byte pieces"
	case 2:
		return "a descriptor has room for five dimensions; an interleaved layout splits the channels, which needs three"
	case 3:
		return "the unit moves 16-byte pieces (32 in these layouts), so the low address bits are not kept"
	case 4:
		return "a size is kept in 32 bits, and an empty tensor has nothing to copy"
	case 5, 16:
		return "the packed types are unpacked in groups of 128 elements (2 for 16U4_ALIGN8B)"
	case 6:
		return "the unit adds coordinate times stride to a 16-byte aligned address; the descriptor keeps no bits below 16 and " +
			"none from 2^40 on, and it does not look whether a dimension has size 1"
	case 7:
		return "this layout moves 32-byte pieces, so each row must start at a multiple of 32"
	case 9:
		return "one copy traverses 1 to 256 elements of a dimension: a side of the box is kept in 8 bits"
	case 10:
		return "a row of the box is written to shared memory in 16-byte pieces"
	case 11:
		return "the step along a dimension is kept in 3 bits"
	case 12:
		return "the documentation allows the 32-byte interleaved layout with the 32-byte pattern only"
	case 13:
		return "a row of the box must fit in one period of the swizzle pattern in shared memory"
	case 14:
		return "the unpacked groups of these types fit only these patterns"
	case 15:
		return "integers have no NaN to fill with"
	case 17:
		return "there is no memory to describe"
	case 18:
		return "the corners share 16 bits of the descriptor: the more spatial dimensions, the fewer for each"
	}
	return ""
}

// list writes numbers as the logs do.
func list[T any](values []T) string {
	parts := make([]string, len(values))
	for i, v := range values {
		parts[i] = fmt.Sprint(v)
	}
	return "(" + strings.Join(parts, ",") + ")"
}
