package hlo

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// found is what Find yielded, paths relative to a folder, errors as text.
func found(t *testing.T, folder string, limits Limits, paths ...string) []string {
	t.Helper()
	var list []string
	for src, err := range Find(paths, limits) {
		line := strings.TrimPrefix(src.Path, folder+"/")
		if src.Text {
			line += " + " + strings.TrimPrefix(src.Assignment, folder+"/")
		}
		if err != nil {
			line += ": " + err.Error()
		}
		list = append(list, line)
	}
	return list
}

// files are the contents of a folder, by path.
type files map[string]string

// write makes a folder of files.
func (f files) write(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for name, content := range f {
		full := filepath.Join(folder, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(full), 0o755))
		require.NoError(t, os.WriteFile(full, []byte(content), 0o600))
	}
	return folder
}

// The names that XLA gives, shortened.
const (
	stepProto      = "module_0007.jit_step.sm_9.0a_gpu_after_optimizations.hlo.pb"
	stepText       = "module_0007.jit_step.sm_9.0a_gpu_after_optimizations.txt"
	stepAssignment = "module_0007.jit_step.sm_9.0a_gpu_after_optimizations-buffer-assignment.txt"
	stepValues     = "module_0007.jit_step.sm_9.0a_gpu_after_optimizations-buffer-assignment-values.txt"
	stepBefore     = "module_0007.jit_step.before_optimizations.hlo.pb"
)

func TestFindInFolder(t *testing.T) {
	small, err := os.ReadFile(one(t, "scale_inplace"))
	require.NoError(t, err)
	tests := []struct {
		name  string
		files files
		want  []string
	}{
		{
			"a healthy directory: modules, earlier stages, notes, and prefixes of which nothing was compiled",
			files{
				stepBefore: "x", stepProto: "x", stepText: "HloModule x", stepAssignment: "x", stepValues: "x",
				"module_0007.jit_step.debug_options":                                   "x",
				"module_0007.jit_step.thunk_sequence.txt":                              "x",
				"module_0007.jit_step.sm_9.0a_gpu_after_optimizations-live-range.txt":  "x",
				"module_0007.jit_step.0003.fusion.after_cse.before_dce.hlo.pb":         "x",
				"module_0008.jit_f.config.pbtxt":                                       "x",
				"module_0009.jit_a.b.cpu_after_optimizations.hlo.pb":                   "x",
				"module_0009.jit_a.b.before_optimizations.txt":                         "HloModule b",
				"module_0010.jit_zipped.cpu_after_optimizations.hlo.pb.gz":             "x",
				"sub/module_0001.jit_h.after_optimizations.hlo.pb":                     "x",
				"module_0007.jit_step/module_0007.jit_step.after_optimizations.hlo.pb": "x",
			},
			[]string{
				stepProto,
				"module_0009.jit_a.b.cpu_after_optimizations.hlo.pb",
				"module_0010.jit_zipped.cpu_after_optimizations.hlo.pb.gz",
				"module_0007.jit_step/module_0007.jit_step.after_optimizations.hlo.pb",
				"sub/module_0001.jit_h.after_optimizations.hlo.pb",
			},
		},
		{
			"text where there is no proto",
			files{stepText: "HloModule x", stepAssignment: "BufferAssignment:", stepValues: "x"},
			[]string{stepText + " + " + stepAssignment},
		},
		{
			"half a text pair",
			files{stepText: "HloModule x", "m2.after_optimizations-buffer-assignment.txt": "BufferAssignment:"},
			[]string{
				"m2.after_optimizations-buffer-assignment.txt: " + errNoModuleText.Error(),
				stepText + ": " + errNoAssignmentText.Error(),
			},
		},
		{
			"a module that was not optimized, counted once",
			files{stepBefore: "x", "module_0007.jit_step.after_spmd_partitioner.hlo.pb": "x", "module_0008.jit_f.config.pbtxt": ""},
			[]string{"module_0007.jit_step.after_spmd_partitioner.hlo.pb: " + errNotOptimized.Error()},
		},
		{
			"renamed files are told by what they hold",
			files{
				"a.bin": string(small), "b": "HloModule b, is_scheduled=true\n", "b-buffer-assignment.txt": "BufferAssignment:\n",
				"c.png": "\x89PNG", "d.json": "{}", "e": "",
			},
			[]string{"a.bin", "b + b-buffer-assignment.txt"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			folder := test.files.write(t)
			assert.Equal(t, test.want, found(t, folder, Limits{}, folder))
		})
	}
}

func TestFindWithoutModules(t *testing.T) {
	folder := files{"module_0008.jit_f.config.pbtxt": "x", "notes": "x"}.write(t)
	assert.Equal(t, []string{folder + ": " + errNothing.Error()}, found(t, folder, Limits{}, folder))
	assert.Contains(t, errNothing.Error(), `XLA_FLAGS="--xla_dump_to=DIR --xla_dump_hlo_as_proto --xla_dump_hlo_as_text"`)
	assert.Equal(t, []string{"nowhere: " + syscall.ENOENT.Error()}, found(t, folder, Limits{}, filepath.Join(folder, "nowhere")))
	assert.Equal(t, []string{"module_0008.jit_f.config.pbtxt: " + errNoDump.Error()},
		found(t, folder, Limits{}, filepath.Join(folder, "module_0008.jit_f.config.pbtxt")))
}

func TestFindSingleFiles(t *testing.T) {
	data, err := os.ReadFile(one(t, "scale_inplace"))
	require.NoError(t, err)
	folder := files{stepProto: string(data), stepText: "HloModule x", stepAssignment: "BufferAssignment:", "renamed": string(data)}.write(t)
	pair := stepText + " + " + stepAssignment
	for name, want := range map[string]string{stepProto: stepProto, "renamed": "renamed", stepText: pair, stepAssignment: pair} {
		assert.Equal(t, []string{want}, found(t, folder, Limits{}, filepath.Join(folder, name)), name)
	}
	half := files{"m.txt": "HloModule m", "n-buffer-assignment.txt": "BufferAssignment:"}.write(t)
	for name, want := range map[string]error{"m.txt": errNoAssignmentText, "n-buffer-assignment.txt": errNoModuleText} {
		assert.Equal(t, []string{name + ": " + want.Error()}, found(t, half, Limits{}, filepath.Join(half, name)))
	}
}

func TestFindOddEntries(t *testing.T) {
	folder := files{stepProto: "x", "sub/x.after_optimizations.hlo.pb": "x"}.write(t)
	require.NoError(t, os.Symlink("missing", filepath.Join(folder, "dangling")))
	require.NoError(t, os.Symlink(".", filepath.Join(folder, "sub", "cycle")))
	require.NoError(t, os.Symlink("..", filepath.Join(folder, "sub", "up")))
	require.NoError(t, os.Symlink("sub", filepath.Join(folder, "again")))
	require.NoError(t, syscall.Mkfifo(filepath.Join(folder, "pipe.after_optimizations.hlo.pb"), 0o600))
	require.NoError(t, syscall.Mkfifo(filepath.Join(folder, "pipe"), 0o600))
	escaped := "\x1b[2Jred\n.after_optimizations.hlo.pb"
	require.NoError(t, os.WriteFile(filepath.Join(folder, escaped), []byte("x"), 0o600))
	assert.Equal(t, []string{
		"dangling: link leads nowhere: " + syscall.ENOENT.Error(),
		"pipe.after_optimizations.hlo.pb: " + errNotRegular.Error(),
		escaped, stepProto, "again/x.after_optimizations.hlo.pb",
	}, found(t, folder, Limits{}, folder))
}

// TestLinksOut: a link out of the dump is named and not followed.
func TestLinksOut(t *testing.T) {
	outside := files{stepProto: "x", "folder/" + stepProto: "x"}.write(t)
	folder := files{"in/" + stepProto: "x"}.write(t)
	for name, to := range map[string]string{
		"a.hlo.pb": filepath.Join(outside, stepProto), "b": filepath.Join(outside, "folder"),
		"c.hlo.pb": filepath.Join("..", filepath.Base(outside), stepProto), "d": filepath.Join(folder, "in"),
		"e.pbtxt": filepath.Join(outside, stepProto), "f.hlo.pb": "in/" + stepProto,
	} {
		require.NoError(t, os.Symlink(to, filepath.Join(folder, name)))
	}
	link := filepath.Join(t.TempDir(), "dump") // the user's own is
	require.NoError(t, os.Symlink(folder, link))
	for _, root := range []string{folder, link} {
		assert.ElementsMatch(t, []string{
			"a.hlo.pb: " + errLeadsOut.Error(), "b: " + errLeadsOut.Error(), "c.hlo.pb: " + errLeadsOut.Error(),
			"f.hlo.pb", "d/" + stepProto,
		}, found(t, root, Limits{}, root))
	}

	t.Chdir(folder)
	assert.Len(t, found(t, folder, Limits{}, "."), 5, "as it is named from inside")

	pair := files{stepText: "HloModule x"}.write(t)
	secret := files{"secret": "BufferAssignment:"}.write(t)
	require.NoError(t, os.Symlink(filepath.Join(secret, "secret"), filepath.Join(pair, stepAssignment)))
	assert.Equal(t, []string{stepAssignment + ": " + errLeadsOut.Error()}, found(t, pair, Limits{}, filepath.Join(pair, stepText)))
}

func TestFindUnreadable(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root reads everything")
	}
	folder := files{"closed/a": "x", stepProto: "x", "unknown": "x"}.write(t)
	require.NoError(t, os.Chmod(filepath.Join(folder, "closed"), 0))
	require.NoError(t, os.Chmod(filepath.Join(folder, "unknown"), 0))
	t.Cleanup(func() { os.Chmod(filepath.Join(folder, "closed"), 0o700) })
	assert.Equal(t, []string{"unknown: " + fs.ErrPermission.Error(), stepProto, "closed: " + fs.ErrPermission.Error()},
		found(t, folder, Limits{}, folder))
}

func TestFindStops(t *testing.T) {
	folder := files{"a.hlo.pb": "x", "b.hlo.pb": "x", "c/d.hlo.pb": "x"}.write(t)
	for range Find([]string{folder, folder}, Limits{}) {
		break
	}
	assert.Equal(t, []string{"a.hlo.pb", "b.hlo.pb", "c: more than 3 files and folders"},
		found(t, folder, Limits{Entries: 3}, folder))
}

// TestFindInHealthyDump reads the folder that one program left, whole.
func TestFindInHealthyDump(t *testing.T) {
	folder := "../testdata/healthy" // earlier stages, prefixes without modules, other outputs
	list := found(t, folder, Limits{}, folder)
	for _, path := range list {
		assert.Regexp(t, `^module_\d+\.jit_\w+\.cpu_after_optimizations\.hlo\.pb$`, path)
	}
	protos, err := filepath.Glob(folder + "/*after_optimizations.hlo.pb")
	require.NoError(t, err)
	assert.Len(t, list, len(protos))
}

// TestDeepFolders ends a nest of folders, and says where.
func TestDeepFolders(t *testing.T) {
	root := t.TempDir()
	deep := filepath.Join(root, strings.Repeat("d/", 3*maxFolderDepth))
	require.NoError(t, os.MkdirAll(deep, 0o755))
	var problems []string
	for src, err := range Find([]string{root}, Limits{}) {
		require.Error(t, err)
		problems = append(problems, src.Path+": "+err.Error())
	}
	require.Len(t, problems, 1)
	require.Contains(t, problems[0], "folders nest more than 100 deep")
}
