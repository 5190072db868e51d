package hlo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
)

// pairs are the text pairs of testdata; beside each lies the proto of the same module.
func pairs(t testing.TB) []Source {
	var list []Source
	for _, folder := range []string{"dumps", "cpu", "old", "healthy", "sharded"} {
		root := filepath.Join("..", "testdata", folder)
		require.NoError(t, filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if base, ok := strings.CutSuffix(path, "after_optimizations.txt"); ok {
				list = append(list, Source{
					Path: path, Text: true, Assignment: base + "after_optimizations-buffer-assignment.txt",
				})
			}
			return err
		}))
	}
	require.Greater(t, len(list), 100)
	return list
}

// protoOf is the proto beside a text pair.
func protoOf(src Source) Source {
	return Source{Path: strings.TrimSuffix(src.Path, ".txt") + ".hlo.pb"}
}

// TestTextAgreesWithProto holds both readers to the same model, but for what the
// formats themselves tell differently: numbers of instructions, and the
// get-tuple-elements that the text folds into their users.
func TestTextAgreesWithProto(t *testing.T) {
	for _, src := range pairs(t) {
		t.Run(strings.TrimPrefix(filepath.ToSlash(filepath.Dir(src.Path)), "../testdata/"), func(t *testing.T) {
			text, err := NewReader(Limits{}).Read(src)
			require.NoError(t, err)
			proto, err := NewReader(Limits{}).Read(protoOf(src))
			require.NoError(t, err)
			v := modelView{innermost: len(proto.Frames.frames) > 0 && len(text.Frames.frames) == 0, scheduled: map[string]bool{}}
			for i := range proto.Computations {
				v.scheduled[proto.Computations[i].Name] = proto.Computations[i].Schedule != nil
			}
			for _, part := range []func(*Module) any{v.module, v.calls, v.graph, v.values, v.allocations, v.schedules} {
				if diff := cmp.Diff(part(proto), part(text), cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("-proto +text:\n%s", diff)
				}
			}
			for i := range min(len(proto.Allocations), len(text.Allocations)) {
				p, x := &proto.Allocations[i], &text.Allocations[i]
				require.True(t, x.Tuple || !p.Tuple, "allocation %d holds a tuple's table", i)
				require.True(t, x.ParameterAliased || !p.ParameterAliased, "allocation %d is an aliased parameter's", i)
			}
		})
	}
}

// origin names a shape index of an instruction. An element that a
// get-tuple-element takes out is named by the tuple it comes from.
func origin(m *Module, instr int32, index ShapeIndex) string {
	in := &m.Instructions[instr]
	for in.Opcode == "get-tuple-element" {
		index = slices.Insert(slices.Clone(index), 0, int64(in.TupleIndex))
		in = &m.Instructions[in.Operands[0]]
	}
	return fmt.Sprint(in.Name, index)
}

// modelView turns a model into what both formats can tell, by name.
type modelView struct {
	innermost bool            // stacks are cut to the file and line that metadata has
	scheduled map[string]bool // computations whose order the proto has
}

// module is what a module has outside of its computations.
func (v modelView) module(m *Module) any {
	donated := map[string]bool{}
	for _, d := range m.Donated {
		donated[fmt.Sprint(d.Parameter, d.Index)] = true
	}
	type computation struct {
		Fusion, Decoded bool
		Root            string
		Parameters      int
	}
	comps := map[string]computation{}
	for i := range m.Computations {
		c := &m.Computations[i]
		k := computation{Fusion: c.Fusion, Decoded: c.Decoded}
		if c.Decoded {
			k.Root = origin(m, c.Root, nil)
			k.Parameters = len(c.Parameters)
		}
		comps[c.Name] = k
	}
	return []any{m.Name, m.Computations[m.Entry].Name, donated, comps}
}

// calls is all that the model has of custom calls and of what they read.
func (v modelView) calls(m *Module) any {
	type call struct {
		CustomCall
		Computation, OpName string
		Stack               []Frame
		Leaves              []Leaf
		Operands            [][]Leaf
	}
	calls := map[string]call{}
	for i := range m.Instructions {
		in := &m.Instructions[i]
		if in.Custom == nil {
			continue
		}
		c := call{
			CustomCall: *in.Custom, Computation: m.Computations[in.Computation].Name,
			OpName: m.OpName(int32(i)), Stack: v.stack(m, i), Leaves: m.Leaves(int32(i)),
		}
		c.Config = compactJSON(c.Config)
		for _, o := range in.Operands {
			c.Operands = append(c.Operands, m.Leaves(o))
		}
		calls[in.Opcode+" "+in.Name] = c
	}
	return calls
}

// compactJSON is what XLA makes of a configuration that is JSON when it prints it.
func compactJSON(config []byte) []byte {
	var v any
	if json.Unmarshal(config, &v) != nil {
		return bytes.Clone(config)
	}
	out, err := json.Marshal(v)
	if err != nil {
		return bytes.Clone(config)
	}
	return out
}

// graph is every instruction with its operands and computations, but for the
// get-tuple-elements.
func (v modelView) graph(m *Module) any {
	type instruction struct {
		Opcode, OpName string
		Parameter      int32
		Operands       []string
		Control        []string
		Called         []string
		Leaves         []Leaf
		Stack          []Frame
	}
	graph := map[string]instruction{}
	for i := range m.Instructions {
		in := &m.Instructions[i]
		if in.Opcode == "get-tuple-element" {
			continue
		}
		g := instruction{
			Opcode: in.Opcode, OpName: m.OpName(int32(i)), Parameter: in.Parameter,
			Leaves: m.Leaves(int32(i)), Stack: v.stack(m, i),
		}
		for _, o := range in.Operands {
			g.Operands = append(g.Operands, origin(m, o, nil))
		}
		for _, o := range in.Control {
			g.Control = append(g.Control, origin(m, o, nil))
		}
		for _, c := range in.Called {
			g.Called = append(g.Called, m.Computations[c].Name)
		}
		graph[in.Name] = g
	}
	return graph
}

// values is every value by its place.
func (v modelView) values(m *Module) any {
	values := map[string]string{}
	for _, x := range m.Values {
		values[origin(m, x.Instruction, x.Index)] = fmt.Sprintf(
			"value %d color %d in %d at %d of %d bytes", x.ID, x.Color, x.Allocation, x.Offset, x.Size)
	}
	return values
}

// allocations is every allocation, but for what XLA's protos do not always say and
// the text always does: that a tuple's table lies in it, and, in older releases, that
// its parameter is aliased.
func (v modelView) allocations(m *Module) any {
	list := []Allocation{}
	for _, a := range m.Allocations {
		ids := []int32{}
		for _, x := range a.Values {
			ids = append(ids, int32(m.Values[x].ID))
		}
		slices.Sort(ids)
		a.Values, a.Tuple, a.ParameterAliased = ids, false, false
		list = append(list, a)
	}
	return list
}

// schedules is the order of the instructions, but for get-tuple-elements, in the
// computations that the proto schedules: the text's reader orders them all.
func (v modelView) schedules(m *Module) any {
	orders := map[string][]string{}
	for i := range m.Computations {
		c := &m.Computations[i]
		if !v.scheduled[c.Name] {
			continue
		}
		for _, n := range c.Schedule {
			if in := &m.Instructions[n]; in.Opcode != "get-tuple-element" {
				orders[c.Name] = append(orders[c.Name], in.Name)
			}
		}
	}
	return orders
}

// stack is an instruction's frames, or what text without a table of frames has of them.
func (v modelView) stack(m *Module, i int) []Frame {
	frames := m.Stack(nil, int32(i))
	if !v.innermost || len(frames) == 0 {
		return frames
	}
	return []Frame{{File: frames[0].File, Line: frames[0].Line}}
}
