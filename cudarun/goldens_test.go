//go:build linux

package cudarun

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"aliascheck/alias"
	"aliascheck/cudarun/driver"
	"aliascheck/rules/goldens"
	"aliascheck/rules/replay"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// renewVariable, where it is set, makes the test on a card write the goldens anew.
const renewVariable = "CUDARUN_RENEW_GOLDENS"

const goldenFolder = "../testdata/goldens"

// A card computes what the goldens say; package rules holds the PTX machine to them.
func TestGPUGoldens(t *testing.T) {
	renew := os.Getenv(renewVariable) != ""
	t.Cleanup(func() {
		if renew && t.Skipped() {
			t.Error("there is no card to renew the goldens with")
		}
	})
	d := openCardHere(t)
	if about := d.Info(); about.Capability != 90 {
		t.Skipf("%s has compute capability %d: the corpus' PTX is for sm_90a", about.Name, about.Capability)
	}
	if renew {
		renewGoldens(t, d)
		return
	}
	known := map[string]goldens.Golden{}
	all, err := goldens.Load(goldenFolder)
	require.NoError(t, err)
	for _, g := range all {
		known[fmt.Sprint(g.Dump, g.Instruction, g.Configuration)] = g
	}
	eachGolden(t, d, func(got *goldens.Golden, data [][]byte) {
		want, ok := known[fmt.Sprint(got.Dump, got.Instruction, got.Configuration)]
		require.True(t, ok, "%s: no golden", got.Dump)
		for _, b := range want.Buffers {
			assert.NoError(t, b.Check(data[b.Buffer]), "%s, configuration %d", got.Dump, got.Configuration)
		}
	})
}

func renewGoldens(t *testing.T, d driver.Device) {
	require.NoError(t, goldens.Remove(goldenFolder))
	n := 0
	eachGolden(t, d, func(g *goldens.Golden, _ [][]byte) {
		n++
		require.NoError(t, g.Write(goldenFolder))
	})
	t.Logf("%d goldens written", n)
}

// eachGolden runs every launch of the dumps that has a golden, equal ones once.
func eachGolden(t *testing.T, d driver.Device, f func(*goldens.Golden, [][]byte)) {
	testdata := filepath.Dir(goldenFolder)
	special, err := goldens.LoadSpecials(goldenFolder)
	require.NoError(t, err)
	folders, err := goldens.Folders(testdata)
	require.NoError(t, err)
	seen := map[[32]byte]bool{}
	for _, folder := range folders {
		s := special[folder]
		if s.Skip != "" {
			continue
		}
		err := goldens.EachCall(filepath.Join(testdata, folder), func(c goldens.Call) error {
			return goldenCall(d, folder, s, c, seen, f)
		})
		assert.NoError(t, err)
	}
}

// goldenCall runs the configurations of one call.
func goldenCall(d driver.Device, folder string, s goldens.Special, c goldens.Call, seen map[[32]byte]bool, f func(*goldens.Golden, [][]byte)) error {
	inputs := s.InputsOf(c.Call)
	nothing := func(*alias.Leaf) ([]byte, string, error) { return nil, "", nil }
	planned, err := replay.New(context.Background(), c.Call, c.Kernels, replay.OperandSource{})
	if err != nil {
		return err
	}
	plan, err := BuildPlan(&replay.Case{Call: c.Call, Kernel: c.Kernels, Plan: planned}, BuildOptions{Name: folder, Contents: nothing})
	if err != nil {
		return err
	}
	for n := range inputs {
		plan.Buffers[n].Contents = inputContents(&inputs[n], &c.Operands[n])
	}
	plan.Shared, plan.Trials = nil, nil
	for k := range plan.Kernels {
		key := launchKey(plan, k, inputs)
		if seen[key] {
			continue
		}
		seen[key] = true
		g := &goldens.Golden{Dump: folder, Instruction: c.Name, Configuration: k, Kernel: plan.Kernels[k].Entry, Inputs: inputs}
		data, err := runGolden(d, plan, k, g, s)
		if err != nil {
			return fmt.Errorf("configuration %d: %w", k, err)
		}
		f(g, data)
	}
	return nil
}

// launchKey is a hash of all that the launch of configuration k depends on.
func launchKey(plan *Plan, k int, inputs []goldens.Input) (key [32]byte) {
	kernel, claims := plan.Kernels[k], []int{}
	kernel.Description = ""
	for _, b := range plan.Buffers {
		claims = append(claims, b.Claims)
	}
	h := sha256.New()
	_ = json.NewEncoder(h).Encode(struct { // plain data: it cannot fail
		Kernel Kernel
		Inputs []goldens.Input
		Claims []int
	}{kernel, inputs, claims})
	return [32]byte(h.Sum(nil))
}

// inputContents makes an operand's contents and notes their hash.
func inputContents(in *goldens.Input, l *alias.Leaf) []byte {
	size := (l.Element.Bits() + 7) / 8
	data := replay.Contents(replay.Recipe{Operand: in.Operand, Kind: in.Kind, Seed: in.Seed, Bound: in.Bound}, l.Element, l.Bytes/max(size, 1))
	in.SHA256 = goldens.Sum(data)
	return data
}

// runGolden runs configuration k with its buffers apart, twice and with another
// poison in the results, and takes down what it wrote.
func runGolden(d driver.Device, plan *Plan, k int, g *goldens.Golden, s goldens.Special) (data [][]byte, err error) {
	r, err := newReplay(d, plan, 10*time.Second, func(string) {}, &Outcome{})
	if err != nil {
		return nil, err
	}
	defer func() {
		if e := r.close(); err == nil {
			err = e
		}
	}()
	r.images, r.kernels = make([]driver.Module, len(plan.Kernels)), make([]driver.Function, len(plan.Kernels))
	if reason, err := r.load(k, &ConfigOutcome{}); err != nil || reason != "" {
		return nil, fmt.Errorf("%s %w", reason, err)
	}
	var runs [2][][]byte
	for i := range runs {
		if runs[i], err = r.goldenRun(k, poisons()[i]); err != nil {
			return nil, err
		}
	}
	about := d.Info()
	g.Device = fmt.Sprintf("%s, driver %s", about.Name, about.Release)
	for n, b := range plan.Buffers {
		switch {
		case b.Role == Bystander, b.Role == Operand && bytes.Equal(runs[0][n], b.Contents):
			continue
		case holdsOnly(runs[0][n], poisons()[0]) && holdsOnly(runs[1][n], poisons()[1]):
			continue // a result that this launch does not write
		}
		var near *goldens.Distance
		if d, ok := s.Close[n]; ok {
			near = &d
		} else if !bytes.Equal(runs[0][n], runs[1][n]) {
			return nil, fmt.Errorf("buffer %d differs from run to run, and nothing says that it may", n)
		}
		golden, err := goldens.NewBuffer(n, b.Element, int(elementOf(b.Element).bytes()), runs[0][n], near)
		if err != nil {
			return nil, err
		}
		if err := golden.Check(runs[1][n]); err != nil {
			return nil, fmt.Errorf("the second run: %w", err)
		}
		g.Buffers = append(g.Buffers, golden)
	}
	return runs[0], nil
}

// holdsOnly says whether every byte has one value.
func holdsOnly(data []byte, value byte) bool {
	return bytes.Count(data, []byte{value}) == len(data)
}

// goldenRun is one run; it returns what the buffers hold after it.
func (r *rerun) goldenRun(k int, poison byte) ([][]byte, error) {
	at := r.plan.apartLayout(&r.plan.Kernels[k]).at(r.region)
	if err := r.prepare(at, poison); err != nil {
		return nil, err
	}
	if _, err := r.launch(k, at, driver.WholeCard); err != nil {
		return nil, err
	}
	out := make([][]byte, len(r.plan.Buffers))
	for n, b := range r.plan.Buffers {
		out[n] = make([]byte, b.Bytes)
		if b.Bytes == 0 {
			continue
		}
		if err := r.dev.Download(out[n], at.buffers[n]); err != nil {
			return nil, err
		}
	}
	return out, nil
}
