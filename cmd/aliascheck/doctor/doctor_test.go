package doctor

import (
	"errors"
	"strings"
	"testing"

	"aliascheck/cmd/aliascheck/compile"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// whole is a machine that lacks nothing.
func whole() *Found {
	return &Found{
		Machine: &compile.Machine{
			Python: "3.12.1", JAX: "0.10.2", JAXlib: "0.10.2", Plugin: "jax-cuda12-plugin 0.10.2", PluginFits: true, Ptxas: "/bin/ptxas",
			Absl: "2", Triton: "3", JAXTriton: "0.3", Flatbuffers: "25",
			Pip: map[string]string{"jax": "pip install jax", "plugin": "pip install plugin", "ptxas": "pip install ptxas", "absl": "pip install absl-py"},
		},
		Cards: []string{"NVIDIA H200"}, Sanitizer: "/bin/compute-sanitizer", Library: "/lib/libsanitizer-public.so", CacheDir: "/cache",
	}
}

func names(rows []Row) []string {
	var out []string
	for _, r := range rows {
		out = append(out, r.Name)
	}
	return out
}

func TestNothingIsMissingOnAWholeMachine(t *testing.T) {
	rows := Rows(whole())
	assert.Empty(t, Lacking(rows, Uses()))
	for _, r := range rows {
		assert.Equal(t, OK, r.State, r.Name)
	}
}

func TestEachMissingPartIsMissedByWhatNeedsIt(t *testing.T) {
	for name, test := range map[string]struct {
		take func(*Found)
		uses string // that lack it
		row  string
		mend string
	}{
		"no Python":       {func(f *Found) { f.Machine, f.Python = nil, errors.New("no python3") }, "compile run trace", "Python", "--python"},
		"no JAX":          {func(f *Found) { f.Machine.JAX = "" }, "compile run trace", "JAX", "pip install jax"},
		"an old JAX":      {func(f *Found) { f.Machine.JAX, f.Machine.Old = "0.4.30", true }, "compile", "JAX", "pip install jax"},
		"no plugin":       {func(f *Found) { f.Machine.Plugin = "" }, "compile trace", "CUDA plugin", "pip install plugin"},
		"a foreign one":   {func(f *Found) { f.Machine.PluginFits = false }, "compile trace", "CUDA plugin", "pip install plugin"},
		"no ptxas":        {func(f *Found) { f.Machine.Ptxas = "" }, "compile", "ptxas", "pip install ptxas"},
		"no driver":       {func(f *Found) { f.Driver = errors.New("no libcuda.so.1") }, "gpu trace", "driver and card", "a machine with"},
		"no library":      {func(f *Found) { f.Library = "" }, "trace", "sanitizer library", ""},
		"no absl":         {func(f *Found) { f.Machine.Absl = "" }, "", "", ""},
		"cache not ours":  {func(f *Found) { f.Cache = errors.New("/cache is not ours") }, "", "", ""},
		"a dumping cache": {func(f *Found) { f.Machine.CacheDirectory, f.Machine.CacheEnabled = "/jax", true }, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := whole()
			test.take(f)
			rows := Rows(f)
			for _, use := range Uses() {
				lack := Lacking(rows, []string{use})
				if !strings.Contains(" "+test.uses+" ", " "+use+" ") {
					assert.Empty(t, lack, use)
					continue
				}
				require.Contains(t, names(lack), test.row, use)
				for _, r := range lack {
					if r.Name == test.row {
						assert.Contains(t, r.Mend, test.mend)
					}
				}
			}
		})
	}
}

func TestTableNamesWhatIsThereAndHowToMendTheRest(t *testing.T) {
	f := whole()
	f.Machine.Ptxas, f.Machine.XLAFlags = "", "--xla_dump_to=/x"
	var b strings.Builder
	require.NoError(t, Write(&b, Rows(f), strings.ToUpper))
	text := b.String()
	assert.Contains(t, text, "ptxas              missing  NOT FOUND\n")
	assert.Contains(t, text, "PIP INSTALL PTXAS\n")
	assert.Contains(t, text, "XLA_FLAGS          note     --XLA_DUMP_TO=/X\n")
	assert.Contains(t, text, "`aliascheck compile`: programs for GPUs that need not be here: lacks ptxas\n")
	assert.Contains(t, text, "`aliascheck run -- COMMAND`: what your command compiles: works\n")
}
