package report

import (
	"slices"

	"aliascheck/rules"
)

// htmlMap is a memory map as columns, which is a third of its size as objects.
type htmlMap struct {
	Allocation int64    `json:"allocation"`
	Size       int64    `json:"size"`
	Steps      int      `json:"steps"`
	At         int      `json:"at"`
	Until      int      `json:"until"`
	Left       int      `json:"left"`
	Names      []string `json:"n"`
	Offsets    []int64  `json:"o"`
	Sizes      []int64  `json:"s"`
	From       []int    `json:"f"`
	To         []int    `json:"t"`
	Roles      []int    `json:"r"` // the order of roles in map.js
}

// valueBytes is about what one value takes in the page beside its name.
const valueBytes = 40

// mapView takes as many values as the budget allows and charges it for them: those
// of the call first, then those that share bytes with them or are alive at the call.
func mapView(m *rules.MemoryMap, budget *int) *htmlMap {
	if m == nil {
		return nil
	}
	out := &htmlMap{
		Allocation: m.Allocation, Size: m.Size, Steps: m.Steps, At: m.At, Until: m.Until,
		Names: []string{}, Offsets: []int64{}, Sizes: []int64{}, From: []int{}, To: []int{}, Roles: []int{},
	}
	for _, i := range byInterest(m) {
		v := &m.Values[i]
		cost := valueBytes + len(v.Name)
		if *budget < cost && v.Role == "" {
			continue
		}
		*budget -= cost
		out.Names = append(out.Names, shorten(Clean(v.Name), markdownName))
		out.Offsets, out.Sizes = append(out.Offsets, v.Offset), append(out.Sizes, v.Size)
		out.From, out.To = append(out.From, v.From), append(out.To, v.To)
		out.Roles = append(out.Roles, roleNumber(v.Role))
	}
	out.Left = m.LeftOut + len(m.Values) - len(out.Names)
	return out
}

// byInterest orders the numbers of a map's values by how much they say about the
// call, else as they are.
func byInterest(m *rules.MemoryMap) []int {
	order := make([]int, len(m.Values))
	interest := make([]int8, len(m.Values))
	lo, hi := callsBytes(m)
	for i := range m.Values {
		v := &m.Values[i]
		order[i] = i
		switch {
		case v.Role != "":
		case v.Offset < hi && v.Offset+v.Size > lo:
			interest[i] = 1
		case v.From <= m.Until && v.To >= m.At:
			interest[i] = 2
		default:
			interest[i] = 3
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(interest[a]) - int(interest[b]) })
	return order
}

// callsBytes is the range of bytes that the finding's operand and result span.
func callsBytes(m *rules.MemoryMap) (lo, hi int64) {
	lo, hi = m.Size, 0
	for i := range m.Values {
		if v := &m.Values[i]; v.Role != "" && v.Role != rules.MapOther {
			lo, hi = min(lo, v.Offset), max(hi, v.Offset+v.Size)
		}
	}
	return lo, hi
}

func roleNumber(r rules.MapRole) int {
	switch r {
	case rules.MapOperand:
		return 1
	case rules.MapResult:
		return 2
	case rules.MapOverwritten:
		return 3
	case rules.MapOther:
		return 4
	}
	return 0
}
