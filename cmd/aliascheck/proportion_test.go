package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aliascheck/cmd/aliascheck/cli"
	"aliascheck/cmd/aliascheck/report"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
)

// proto builds a protobuf message, field by field.
type proto []byte

func (m proto) num(field protowire.Number, v int) proto {
	return protowire.AppendVarint(protowire.AppendTag(m, field, protowire.VarintType), uint64(v))
}

func (m proto) bytes(field protowire.Number, v []byte) proto {
	return protowire.AppendBytes(protowire.AppendTag(m, field, protowire.BytesType), v)
}

func (m proto) str(field protowire.Number, v string) proto { return m.bytes(field, []byte(v)) }

// crowd is a module of custom calls that all read one parameter and write over it, with
// long names and a deep stack: what a small file can make a long report of.
type crowd struct {
	calls, leaves           int // each call has as many operands as results
	name, computation, file string
	frames                  int
}

func (c crowd) encode() []byte {
	const f32 = 11
	array := proto{}.num(2, f32).num(3, 4)
	tuple := proto{}.num(2, 13)
	for range c.leaves {
		tuple = tuple.bytes(4, array)
	}
	frames := proto{}.str(1, c.file).str(2, c.file)
	frames = frames.bytes(3, proto{}.num(1, 1).num(2, 1).num(3, 7))
	for n := range c.frames {
		frames = frames.bytes(4, proto{}.num(1, 1).num(2, n))
	}
	body := proto{}.str(1, c.computation).bytes(2, proto{}.str(1, c.name).str(2, "parameter").bytes(3, array).num(35, 1))
	order := proto{}.num(1, 1)
	values, assigned := proto{}.bytes(1, proto{}.num(1, 1).num(2, 16).bytes(3, proto{}.num(4, 1))), proto{}.num(1, 0).num(2, 16)
	lay := func(value int) {
		assigned = assigned.bytes(9, proto{}.num(1, value).num(2, 0).num(3, 16))
	}
	lay(1)
	table := proto{}.num(1, 1).num(2, 1<<40)
	value := 2
	for n := range c.calls {
		id := n + 2
		call := proto{}.str(1, fmt.Sprintf("c.%d", n)).str(2, "custom-call").bytes(3, tuple).num(35, id).
			str(28, fmt.Sprintf("t%d", n)).bytes(7, proto{}.num(15, c.frames))
		for range c.leaves {
			call = call.num(36, 1)
		}
		body = body.bytes(2, call)
		values = values.bytes(1, proto{}.num(1, value).num(2, 8).bytes(3, proto{}.num(4, id)))
		table = table.bytes(9, proto{}.num(1, value).num(2, 8*value).num(3, 8))
		for leaf := range c.leaves {
			value++
			values = values.bytes(1, proto{}.num(1, value).num(2, 16).bytes(3, proto{}.num(4, id).num(3, leaf)))
			lay(value)
		}
		value++
	}
	ids := proto{}
	for id := range c.calls + 1 {
		ids = protowire.AppendVarint(ids, uint64(id+1))
	}
	body = body.num(5, 1).num(6, c.calls+1)
	module := proto{}.str(1, "m").bytes(3, body).num(6, 1).
		bytes(7, proto{}.bytes(1, order.bytes(2, proto{}.bytes(1, ids)))).bytes(17, frames)
	return proto{}.bytes(1, module).bytes(3, append(values, proto{}.bytes(3, assigned).bytes(3, table)...))
}

// TestReportsStayInProportion: whatever a module of 2 MB holds, no report of it is more
// than some times as long, and where findings were left out the audit is not whole.
func TestReportsStayInProportion(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long: make test runs it")
	}
	long := strings.Repeat("n", 1<<16)
	for name, c := range map[string]crowd{
		"many leaves":               {calls: 20, leaves: 150},
		"many calls":                {calls: 6_000, leaves: 2, frames: 1, file: "a.py"},
		"a deep stack":              {calls: 2_000, leaves: 1, frames: 200, file: strings.Repeat("f", 10_000)},
		"a long name of all calls'": {calls: 2_000, leaves: 1, computation: long},
		"a long name of a value":    {calls: 2_000, leaves: 1, name: long},
	} {
		t.Run(name, func(t *testing.T) {
			module := c.encode()
			require.Less(t, len(module), 4<<20)
			folder := t.TempDir()
			path := filepath.Join(folder, "module_0001.jit_f.cpu_after_optimizations.hlo.pb")
			require.NoError(t, os.WriteFile(path, module, 0o600))
			args := []string{"--replay", "off", "--quiet", path}
			for _, format := range report.Formats() {
				args = append(args, "--output", format+"="+filepath.Join(folder, format))
			}
			var stdout, stderr bytes.Buffer
			require.Equal(t, cli.ExitFailed, run(args, nil, &stdout, &stderr), "%s", stderr.String())
			assert.Contains(t, stdout.String(), "in one module:")
			for _, format := range report.Formats() {
				info, err := os.Stat(filepath.Join(folder, format))
				require.NoError(t, err)
				t.Logf("%s: %d bytes for %d", format, info.Size(), len(module))
				assert.Less(t, info.Size(), int64(8<<20+8*len(module)), format)
			}
		})
	}
}
