package jax

import (
	"encoding/json"
	"fmt"
	"strings"
)

// UnmarshalJSON reads the worker's flat table of modes: "apart", "shared 0:1",
// "confined 0:1", "trace".
func (m *Modes) UnmarshalJSON(data []byte) error {
	var flat map[string]json.RawMessage
	if err := json.Unmarshal(data, &flat); err != nil {
		return err
	}
	m.Shared, m.Confined = map[Pair]*Shared{}, map[Pair]*Shared{}
	for name, raw := range flat {
		kind, pair, _ := strings.Cut(name, " ")
		var err error
		switch kind {
		case "apart":
			err = json.Unmarshal(raw, &m.Apart)
		case "trace":
			err = json.Unmarshal(raw, &m.Trace)
		case "shared":
			err = unmarshalPair(m.Shared, pair, raw)
		case "confined":
			err = unmarshalPair(m.Confined, pair, raw)
		default:
			err = fmt.Errorf("mode %q", name)
		}
		if err != nil {
			return fmt.Errorf("outcome of the worker: %s: %w", name, err)
		}
	}
	return nil
}

// MarshalJSON writes the same table.
func (m Modes) MarshalJSON() ([]byte, error) {
	flat := map[string]any{}
	if m.Apart != nil {
		flat["apart"] = m.Apart
	}
	if m.Trace != nil {
		flat["trace"] = m.Trace
	}
	for p, s := range m.Shared {
		flat[fmt.Sprintf("shared %d:%d", p[0], p[1])] = s
	}
	for p, s := range m.Confined {
		flat[fmt.Sprintf("confined %d:%d", p[0], p[1])] = s
	}
	return json.Marshal(flat)
}

func unmarshalPair(into map[Pair]*Shared, name string, raw []byte) error {
	var p Pair
	if n, err := fmt.Sscanf(name, "%d:%d", &p[0], &p[1]); err != nil || n != 2 {
		return fmt.Errorf("%q names no pair", name)
	}
	s := new(Shared)
	into[p] = s
	return json.Unmarshal(raw, s)
}
