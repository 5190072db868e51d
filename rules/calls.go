package rules

import (
	"cmp"
	"encoding/json"
	"iter"
	"slices"
)

// Calls are the custom calls of a report, a list for each module that has any: a big
// report is never copied into one piece. Its JSON is one flat list all the same.
type Calls [][]Call

// All yields every call.
func (c Calls) All() iter.Seq[*Call] {
	return func(yield func(*Call) bool) {
		for _, module := range c {
			for i := range module {
				if !yield(&module[i]) {
					return
				}
			}
		}
	}
}

// Len is how many calls there are.
func (c Calls) Len() int {
	n := 0
	for _, module := range c {
		n += len(module)
	}
	return n
}

// MarshalJSON writes the flat list.
func (c Calls) MarshalJSON() ([]byte, error) {
	return json.Marshal(append(make([]Call, 0, c.Len()), slices.Concat(c...)...))
}

// UnmarshalJSON reads a flat list. Calls of one module that stand together are a list.
func (c *Calls) UnmarshalJSON(data []byte) error {
	var flat []Call
	if err := json.Unmarshal(data, &flat); err != nil {
		return err
	}
	*c = (*c)[:0]
	for first := 0; first < len(flat); {
		end := first + 1
		for end < len(flat) && flat[end].Path == flat[first].Path && flat[end].Module == flat[first].Module {
			end++
		}
		*c = append(*c, flat[first:end:end])
		first = end
	}
	return nil
}

// sort orders the modules by path, and leaves those of one path in the order of their
// calls: sharded audits may meet them in any.
func (c Calls) sort() {
	slices.SortStableFunc(c, func(x, y []Call) int {
		if c := cmp.Compare(x[0].Path, y[0].Path); c != 0 {
			return c // as nearly always, and what follows is dear
		}
		return cmp.Or(cmp.Compare(x[0].Module, y[0].Module),
			slices.CompareFunc(x, y, func(a, b Call) int {
				return cmp.Or(cmp.Compare(a.Instruction, b.Instruction), cmp.Compare(a.Target, b.Target), cmp.Compare(a.Kernel, b.Kernel))
			}))
	})
}
