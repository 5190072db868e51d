package hlo

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// tarred is a tar archive of files, in the order given.
func tarred(t testing.TB, members ...[2]string) []byte {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, m := range members {
		require.NoError(t, w.WriteHeader(&tar.Header{Name: m[0], Size: int64(len(m[1])), Mode: 0o600, Typeflag: tar.TypeReg}))
		_, err := w.Write([]byte(m[1]))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return out.Bytes()
}

// zipped is a zip archive of files.
func zipped(t testing.TB, members ...[2]string) []byte {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, m := range members {
		f, err := w.Create(m[0])
		require.NoError(t, err)
		_, err = f.Write([]byte(m[1]))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return out.Bytes()
}

// gzipped is data, compressed.
func gzipped(t testing.TB, data []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write(data)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.Bytes()
}

func TestFindInArchives(t *testing.T) {
	data, err := os.ReadFile(one(t, "sort_in_loop"))
	require.NoError(t, err)
	members := [][2]string{
		{"dump/" + stepAssignment, "BufferAssignment:"}, {"dump/" + stepProto, string(data)}, {"dump/" + stepText, "HloModule"},
		{"other/" + stepAssignment, "BufferAssignment:"}, {"other/" + stepText, "HloModule other"}, {"renamed", string(data)},
		{"third/" + stepBefore, string(data)}, {"inner.zip", "PK\x03\x04"},
	}
	archives := files{
		"a.tar": string(tarred(t, members...)), "b.tar.gz": string(gzipped(t, tarred(t, members...))),
		"c.zip": string(zipped(t, members...)), "d": string(zipped(t, members...)),
	}
	folder := archives.write(t)
	var want []string
	for name := range archives {
		at := name + "!/"
		want = append(want, at+"inner.zip: "+errNested.Error(), at+"third/"+stepBefore+": "+errNotOptimized.Error(),
			at+"dump/"+stepProto, at+"other/"+stepText+" + "+at+"other/"+stepAssignment, at+"renamed")
	}
	got := found(t, folder, Limits{}, folder)
	for i := range got {
		got[i] = strings.ReplaceAll(got[i], folder+"/", "")
	}
	assert.ElementsMatch(t, want, got)

	r := NewReader(Limits{})
	direct, err := r.Read(Source{Path: one(t, "sort_in_loop")})
	require.NoError(t, err)
	instructions, values := len(direct.Instructions), len(direct.Values)
	for src, err := range Find([]string{filepath.Join(folder, "b.tar.gz"), filepath.Join(folder, "c.zip")}, Limits{}) {
		if err != nil || src.Text {
			continue
		}
		m, err := r.Read(src)
		require.NoError(t, err, src.Path)
		assert.Equal(t, instructions, len(m.Instructions))
		assert.Equal(t, values, len(m.Values))
	}
}

func TestFindInBadArchives(t *testing.T) {
	data, err := os.ReadFile(one(t, "sort_in_loop"))
	require.NoError(t, err)
	whole := gzipped(t, tarred(t, [2]string{"a.hlo.pb", string(data)}, [2]string{"b.hlo.pb", string(data)}))
	zip := zipped(t, [2]string{"a.hlo.pb", string(data)})
	broken := bytes.Clone(zip)
	broken[200] ^= 0xff
	bomb := gzipped(t, tarred(t, [2]string{"a.hlo.pb", "\x0a\xff\xff\xff\xff\x0f" + strings.Repeat("\x00", 8<<20)}))
	tests := []struct {
		name, data string
		limits     Limits
		want       string
	}{
		{"cut tar.gz", string(whole[:len(whole)/2]), Limits{}, "unexpected EOF"},
		{"tar.gz cut behind its last member", string(whole[:len(whole)-4]), Limits{}, "unexpected EOF"},
		{"cut zip", string(zip[:len(zip)-40]), Limits{}, "zip: not a valid zip file"},
		{"damaged zip", string(broken), Limits{}, ""},
		{"inflates over the limit", string(bomb), Limits{ArchiveBytes: 1 << 20}, "inflates to more"},
		{"too many members", string(whole), Limits{ArchiveMembers: 1}, "more than 1 members"},
		{"too many members in a zip", string(zipped(t, make([][2]string, 40)...)), Limits{ArchiveMembers: 4}, "members"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			folder := files{"x": test.data}.write(t)
			list := strings.Join(found(t, folder, test.limits, filepath.Join(folder, "x")), "\n")
			assert.Contains(t, list, ": ")
			assert.Contains(t, list, test.want)
		})
	}
}
