package runner

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFinishTellsWhatCouldNotBeCompiledForAnAbsentGPU(t *testing.T) {
	d, a := newDumpDir(t), newFakeAuditor()
	w := newWatcher(d.root, a, KeepAll)
	d.record("p", `{"event":"begin"}`+"\n"+
		`{"event":"end","test":"t.py::a","modules":[0],"outcome":"passed","calls":2}`+"\n"+
		`{"event":"end","test":"t.py::b","modules":[],"outcome":"failed","calls":1}`+"\n"+
		`{"event":"end","test":"t.py::c","modules":[],"outcome":"passed","calls":0}`+"\n"+
		`{"event":"end","test":"t.py::d","modules":[],"outcome":"skipped","calls":0}`+"\n")
	d.module("p/module_0000.jit_f", "end")
	d.write("p"+absentSuffix, `{"event":"ready","jax":"0.10.2"}`+"\n"+
		`{"event":"compiled","name":"f","placeholders":["x"]}`+"\n"+`{"event":"compiled","name":"g","placeholders":["x"]}`+"\n"+
		`{"event":"fail","name":"h","error":"ValueError: no","mend":"do","place":"t.py::b"}`+"\nnoise\n")
	require.NoError(t, w.finish(context.Background(), 1))
	assert.Equal(t, Absent{JAX: "0.10.2", Compiled: 2, Failed: 1, Placeholders: []string{"x"}, Tests: Tests{Ended: 2, Failed: 1, Nothing: 1}}, w.absent)
	assert.Equal(t, map[string]string{"h": "ValueError: no; mend: do (during t.py::b)"}, a.incomplete)
}

func TestEnvironmentOfAnAbsentGPUDumpsNothingOfTheCPU(t *testing.T) {
	flags, err := readFlags("--xla_gpu_x=1 --xla_dump_to=/theirs")
	require.NoError(t, err)
	e := childEnvironment(nil, flags, "/d", "/d/shared", "/d/.python", &Target{Name: "h100"})
	assert.Equal(t, "--xla_gpu_x=1", e.get("XLA_FLAGS"))
	assert.Equal(t, "h100", e.get("ALIASCHECK_TARGET"))
	assert.Equal(t, filepath.Join("/d/.python", targetConfig), e.get("ALIASCHECK_TARGET_CONFIG"))
	e = childEnvironment(nil, flags, "/d", "/d/shared", "/d/.python", nil)
	assert.Contains(t, e.get("XLA_FLAGS"), "--xla_dump_to=")
	assert.Empty(t, e.get("ALIASCHECK_TARGET"))
}
