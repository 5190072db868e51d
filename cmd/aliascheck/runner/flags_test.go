package runner

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSplitFlagsReadsAsXLADoes(t *testing.T) {
	tests := map[string]struct {
		in   string
		want []flag
		rest string
	}{
		"none":          {"  ", nil, ""},
		"bare":          {"--xla_a", []flag{{name: "xla_a"}}, ""},
		"several":       {" --xla_a=1\t--xla_b=x,y\n--xla_c ", []flag{{"xla_a", "1", true}, {"xla_b", "x,y", true}, {name: "xla_c"}}, ""},
		"empty value":   {"--xla_a= --xla_b", []flag{{"xla_a", "", true}, {name: "xla_b"}}, ""},
		"double quotes": {`--xla_dump_to="/a b/\"c\\" --x`, []flag{{"xla_dump_to", `/a b/"c\`, true}, {name: "x"}}, ""},
		"single quotes": {`--xla_dump_to='/a b\' --x`, []flag{{"xla_dump_to", `/a b\`, true}, {name: "x"}}, ""},
		"open quote":    {`--xla_a="b c`, []flag{{"xla_a", "b c", true}}, ""},
		"inner quote":   {`--xla_a=b"c d`, []flag{{"xla_a", `b"c`, true}}, "d"},
		"one dash":      {"-xla_a=1", []flag{{"xla_a", "1", true}}, ""},
		"no flag":       {"--xla_a=1 junk --xla_b=2", []flag{{"xla_a", "1", true}}, "junk --xla_b=2"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, rest := splitFlags(test.in)
			assert.Equal(t, test.want, got)
			assert.Equal(t, test.rest, rest)
		})
	}
}

func TestReadFlagsSetsOursBesideTheUsers(t *testing.T) {
	tests := map[string]struct {
		in, want, dumpTo string
		notes            []string
	}{
		"empty":       {"", `--xla_dump_to="/d" --xla_dump_hlo_as_proto`, "", nil},
		"others stay": {"--xla_gpu_x=1 --xla_y", `--xla_gpu_x=1 --xla_y --xla_dump_to="/d" --xla_dump_hlo_as_proto`, "", nil},
		"their directory": {"--xla_dump_to=/theirs --xla_dump_hlo_as_proto=false",
			`--xla_dump_to="/d" --xla_dump_hlo_as_proto`, "/theirs", nil},
		"quotes survive": {`--xla_x="a b"`, `--xla_x="a b" --xla_dump_to="/d" --xla_dump_hlo_as_proto`, "", nil},
		"narrowing": {"--xla_dump_hlo_module_re=jit_f.*", `--xla_dump_hlo_module_re=jit_f.* --xla_dump_to="/d" --xla_dump_hlo_as_proto`, "",
			[]string{"XLA_FLAGS has --xla_dump_hlo_module_re=jit_f.*: no other module is dumped or audited"}},
		"limits go": {"--xla_dump_max_hlo_modules=3", `--xla_dump_to="/d" --xla_dump_hlo_as_proto`, "",
			[]string{"left out of XLA_FLAGS for this run: --xla_dump_max_hlo_modules=3 (the audit needs every module under its plain name)"}},
		"junk would hide ours": {"--xla_a junk --xla_b", `--xla_a --xla_dump_to="/d" --xla_dump_hlo_as_proto`, "",
			[]string{`XLA stops reading XLA_FLAGS at "junk --xla_b": what follows has no effect`}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d, err := readFlags(test.in)
			require.NoError(t, err)
			assert.Equal(t, test.want, d.withDump("/d"))
			assert.Equal(t, test.dumpTo, d.dumpTo)
			assert.Equal(t, test.notes, d.notes)
		})
	}
}

func TestReadFlagsOpensTheFileThatXLAWouldOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "flags")
	require.NoError(t, os.WriteFile(path, []byte("--xla_a=1\n--xla_dump_to=/x\n"), 0o600))
	d, err := readFlags("  " + path)
	require.NoError(t, err)
	assert.Equal(t, `--xla_a=1 --xla_dump_to="/d" --xla_dump_hlo_as_proto`, d.withDump("/d"))
	assert.Equal(t, "/x", d.dumpTo)

	_, err = readFlags(path + ".missing")
	assert.ErrorIs(t, err, os.ErrNotExist)
	assert.ErrorContains(t, err, path+".missing")

	require.NoError(t, os.WriteFile(path, make([]byte, maxFlagFile+1), 0o600))
	_, err = readFlags(path)
	assert.ErrorContains(t, err, "longer than 1 MiB")
}

func FuzzFlagsSurviveTheirOwnWriting(f *testing.F) {
	f.Add(`--xla_a="b\" c" --d='e\' junk`)
	f.Add("-a=b\n--c= --d")
	f.Fuzz(func(t *testing.T, s string) {
		flags, _ := splitFlags(s)
		kept := dumpFlags{kept: flags}
		again, rest := splitFlags(kept.withDump(`/d "e"\`))
		require.Empty(t, rest)
		require.Len(t, again, len(flags)+2)
		for i, f := range flags {
			if f.name == "" || !isFlagChar(f.name[0]) {
				continue // dashes alone: not a flag that XLA knows
			}
			require.Equal(t, f, again[i])
		}
		require.Equal(t, flag{"xla_dump_to", `/d "e"\`, true}, again[len(flags)])
	})
}
