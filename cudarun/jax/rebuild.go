package jax

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Call is one custom call as StableHLO spells it.
type Call struct {
	Target     string  `json:"target"`
	APIVersion int32   `json:"api_version"`
	Config     []byte  `json:"config"` // backend_config; of version 4 MLIR's text of a dictionary
	SideEffect bool    `json:"side_effect"`
	Operands   []Array `json:"operands"`
	Results    []Array `json:"results"`
}

// Array is an operand or a result.
type Array struct {
	Type   string  `json:"type"` // XLA's name: f32, bf16, s32, pred, token
	Dims   []int64 `json:"dims"`
	Layout []int64 `json:"layout"` // minor to major
	Seed   int     `json:"seed,omitempty"`
	File   string  `json:"file,omitempty"` // raw bytes, dense, row-major, little-endian
}

// Limits of a call: what a hostile dump may make a card hold.
const (
	maxArrays = 64
	maxBytes  = 16 << 30
	maxConfig = 64 << 20
)

// elementBytes are the sizes of the types that JAX can make; smaller than a byte
// count as one.
func elementBytes(name string) int64 {
	switch {
	case name == "token":
		return 0
	case name == "c64":
		return 8
	case name == "c128":
		return 16
	}
	for suffix, size := range map[string]int64{"64": 8, "32": 4, "16": 2} {
		if strings.HasSuffix(name, suffix) {
			return size
		}
	}
	return 1
}

// Check says why a call cannot be asked of a worker.
func (c *Call) Check() error {
	if c.Target == "" {
		return errors.New("the call names no target")
	}
	if c.APIVersion < 1 || c.APIVersion > 4 {
		return fmt.Errorf("custom call API version %d: 1 to 4 are known", c.APIVersion)
	}
	if len(c.Operands)+len(c.Results) > maxArrays {
		return fmt.Errorf("%d operands and results, more than %d", len(c.Operands)+len(c.Results), maxArrays)
	}
	if len(c.Config) > maxConfig {
		return fmt.Errorf("a backend_config of %d bytes, more than %d", len(c.Config), maxConfig)
	}
	total := int64(0)
	for _, a := range slices.Concat(c.Operands, c.Results) {
		size := elementBytes(a.Type)
		for _, d := range a.Dims {
			if d < 0 || d > 0 && size > maxBytes/d {
				return fmt.Errorf("an array %s%v is over %d bytes", a.Type, a.Dims, int64(maxBytes))
			}
			size *= d
		}
		if total += size; total > maxBytes {
			return fmt.Errorf("operands and results of more than %d bytes", int64(maxBytes))
		}
	}
	return nil
}
