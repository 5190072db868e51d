// Package hlotest makes faulty dumps out of real ones, for tests: it moves values
// to other memory and bends declarations, in the proto and in the text pair alike.
// It knows nothing of package hlo, whose readers it tests.
package hlotest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Dump is one module in both forms.
type Dump struct {
	Name       string // of the files, without suffix
	Proto      []byte // …after_optimizations.hlo.pb
	Text       string // …after_optimizations.txt
	Assignment string // …after_optimizations-buffer-assignment.txt
}

// Load reads the one module of a folder.
func Load(dir string) (*Dump, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*_after_optimizations.hlo.pb"))
	if err != nil || len(files) != 1 {
		return nil, fmt.Errorf("%s: one module was expected, not %d", dir, len(files))
	}
	stem := strings.TrimSuffix(files[0], ".hlo.pb")
	d := &Dump{Name: filepath.Base(stem)}
	if d.Proto, err = os.ReadFile(files[0]); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(stem + ".txt")
	if err != nil {
		return nil, err
	}
	assignment, err := os.ReadFile(stem + "-buffer-assignment.txt")
	d.Text, d.Assignment = string(text), string(assignment)
	return d, err
}

// WriteProto writes the proto into dir and returns its path.
func (d *Dump) WriteProto(dir string) (string, error) {
	path := filepath.Join(dir, d.Name+".hlo.pb")
	return path, os.WriteFile(path, d.Proto, 0o644)
}

// WriteText writes the text pair into dir and returns the module's path.
func (d *Dump) WriteText(dir string) (string, error) {
	path := filepath.Join(dir, d.Name+".txt")
	if err := os.WriteFile(path, []byte(d.Text), 0o644); err != nil {
		return "", err
	}
	return path, os.WriteFile(filepath.Join(dir, d.Name+"-buffer-assignment.txt"), []byte(d.Assignment), 0o644)
}

// Move gives the logical buffer `value` the slice (allocation, offset, size) and
// grows the allocation if it must.
func (d *Dump) Move(value, allocation, offset, size int64) error {
	if err := d.moveInProto(value, allocation, offset, size); err != nil {
		return err
	}
	return d.moveInText(value, allocation, offset, size)
}

// NewAllocation appends an empty allocation for temporaries and returns its index.
func (d *Dump) NewAllocation(size int64) int64 {
	index := d.allocateInProto(size)
	d.Assignment = strings.TrimRight(d.Assignment, "\n") +
		fmt.Sprintf("\nallocation %d: size %d, page 0, preallocated-temp:\n", index, size)
	return index
}

// Redeclare makes every declared pair of the instruction (by id in the proto, by
// name in the text) name another operand.
func (d *Dump) Redeclare(id int64, name string, operand int64) error {
	if err := d.redeclareInProto(id, operand); err != nil {
		return err
	}
	return d.redeclareInText(name, operand)
}
