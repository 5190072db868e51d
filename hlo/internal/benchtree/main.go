// Benchtree builds the tree that the benchmarks read: many small modules and copies of
// a large one, made from real dumps, no two alike: module names, ids and the PTX of
// every kernel differ, so that a reader that remembers what it saw gains nothing.
//
//	benchtree -from testdata/dumps -to DIR [-small 2000] [-large 200]
//	benchtree -from testdata/dumps -to DIR -small 0 -large 0 -literal 500000000
//
// The second form writes one module with a constant of that many bytes.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

// largeDump is the folder of the dump whose copies are the large modules.
const largeDump = "transformer_step"

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "benchtree:", err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	from, to     string
	small, large int
	literal      int // bytes
}

func run() error {
	var o options
	flag.StringVar(&o.from, "from", "testdata/dumps", "folder of dumps, each in a folder of its own")
	flag.StringVar(&o.to, "to", "", "folder to write to; it must not exist")
	flag.IntVar(&o.small, "small", 2000, "small modules")
	flag.IntVar(&o.large, "large", 200, "copies of "+largeDump)
	flag.IntVar(&o.literal, "literal", 0, "bytes of the constant of one more module")
	flag.Parse()
	if o.to == "" {
		return errors.New("-to is missing")
	}
	if err := os.Mkdir(o.to, 0o755); err != nil {
		return err
	}
	dumps, err := filepath.Glob(filepath.Join(o.from, "*", "*_after_optimizations.hlo.pb"))
	if err != nil || len(dumps) < 2 {
		return fmt.Errorf("no dumps in %s (%v)", o.from, err)
	}
	var small []string
	large := ""
	for _, path := range dumps {
		if filepath.Base(filepath.Dir(path)) == largeDump {
			large = path
		} else {
			small = append(small, path)
		}
	}
	for i := range o.small {
		if err := o.copy(small[i%len(small)], i, 0); err != nil {
			return err
		}
	}
	for i := range o.large {
		if err := o.copy(large, o.small+i, 0); err != nil {
			return err
		}
	}
	if o.literal > 0 {
		return o.copy(large, o.small+o.large, o.literal)
	}
	return nil
}

// copy writes the n-th module: a dump, made unlike all others.
func (o *options) copy(dump string, n, literal int) error {
	data, err := os.ReadFile(dump)
	if err != nil {
		return err
	}
	d := distinct{n: n, literal: literal}
	data, err = d.proto(data)
	if err != nil {
		return fmt.Errorf("%s: %w", dump, err)
	}
	name := fmt.Sprintf("module_%05d.jit_copy_%d.sm_9.0a_gpu_after_optimizations.hlo.pb", n, n)
	return os.WriteFile(filepath.Join(o.to, name), data, 0o644)
}
