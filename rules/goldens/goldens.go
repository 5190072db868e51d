// Package goldens holds results that a GPU computed, for tests that hold the PTX
// machine to them. One file of testdata/goldens is one launch of one configuration
// of one call of the dumps, with its buffers apart: the recipes of its inputs, and of
// every buffer that it writes the bytes' SHA-256, or a sample where it approximates.
package goldens

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Golden is one launch and what came of it. Buffers are numbered as jaxlib numbers
// them: the call's operands, then its results, flattened.
type Golden struct {
	Dump          string   `json:"dump"`        // folder below testdata
	Instruction   string   `json:"instruction"` // the custom call
	Configuration int      `json:"configuration"`
	Kernel        string   `json:"kernel"`
	Device        string   `json:"device"` // that computed it, and its driver
	Inputs        []Input  `json:"inputs"` // one for each operand
	Buffers       []Buffer `json:"buffers"`
}

// Input is the recipe of an operand's contents, in the terms of rules.Recipe. A
// claimed result starts as a copy of its operand, other results as nothing.
type Input struct {
	Operand int    `json:"operand"`
	Kind    string `json:"kind"`
	Seed    uint64 `json:"seed"`
	Bound   int64  `json:"bound,omitempty"`
	SHA256  string `json:"sha256,omitempty"` // of the contents
}

// Special is what a case needs beside the default: operand n random by seed n+1, or
// a permutation by that seed where it is of integers, and every bit of the results.
type Special struct {
	Dump   string           `json:"dump"`
	Skip   string           `json:"skip,omitempty"` // why there can be no golden
	Inputs []Input          `json:"inputs,omitempty"`
	Close  map[int]Distance `json:"close,omitempty"` // by buffer
}

// Distance is how far a computed float may be from the GPU's: Units in the last
// place, or Absolute, whichever is more.
type Distance struct {
	Units    uint64  `json:"units,omitempty"`
	Absolute float64 `json:"absolute,omitempty"`
}

// fileName is the file of a golden in the folder of all.
func (g *Golden) fileName() string {
	name := strings.ReplaceAll(g.Dump, "/", "-")
	return fmt.Sprintf("%s.%s.%d.json", name, g.Instruction, g.Configuration)
}

// Write writes a golden into a folder.
func (g *Golden) Write(folder string) error {
	data, err := json.MarshalIndent(g, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, g.fileName()), append(data, '\n'), 0o644)
}

// specials is the file of the Specials in the folder of the goldens.
const specials = "specials.json"

// Load reads all goldens of a folder, by name.
func Load(folder string) ([]Golden, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return nil, err
	}
	slices.Sort(files)
	var all []Golden
	for _, file := range files {
		if filepath.Base(file) == specials {
			continue
		}
		var g Golden
		if err := readJSON(file, &g); err != nil {
			return nil, err
		}
		if want := g.fileName(); filepath.Base(file) != want {
			return nil, fmt.Errorf("%s: its launch belongs into %s", file, want)
		}
		all = append(all, g)
	}
	return all, nil
}

// LoadSpecials reads the folder's Specials, by dump.
func LoadSpecials(folder string) (map[string]Special, error) {
	var list []Special
	if err := readJSON(filepath.Join(folder, specials), &list); err != nil {
		return nil, err
	}
	out := map[string]Special{}
	for _, s := range list {
		if _, twice := out[s.Dump]; twice {
			return nil, fmt.Errorf("%s: %s stands there twice", specials, s.Dump)
		}
		out[s.Dump] = s
	}
	return out, nil
}

// Remove removes the goldens of a folder, before new ones are written.
func Remove(folder string) error {
	all, err := Load(folder)
	for _, g := range all {
		err = errors.Join(err, os.Remove(filepath.Join(folder, g.fileName())))
	}
	return err
}

func readJSON(file string, into any) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("%s: something follows", file)
	}
	return nil
}
