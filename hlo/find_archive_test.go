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
	compressed := gzipped(t, data) // as xla_dump_compress_protos writes it
	wrongSum := bytes.Clone(compressed)
	wrongSum[len(wrongSum)-8] ^= 1
	// What is stored and not deflated is damaged without a word but for its checksum.
	stored := storedZip(t, "a.hlo.pb", data)
	badSum := bytes.Clone(stored)
	badSum[bytes.Index(badSum, []byte("jit_sort_in_loop"))] ^= 1
	twice := [][2]string{{"d/a.hlo.pb", string(data)}, {"d/a.hlo.pb", string(data) + "\x00"}}
	again := [][2]string{{"./d/a.hlo.pb", string(data)}, {"d//a.hlo.pb", string(data)}}
	behind := append(tarred(t, [2]string{"a.hlo.pb", string(data)}), tarred(t, [2]string{"b.hlo.pb", string(data)})...)
	protoBomb := gzipped(t, message{}.bytes(1, message{}.str(1, "a").str(2, "b").bytes(99, make([]byte, 8<<20))))
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
		{"wrong checksum in a zip", string(badSum), Limits{}, "zip: checksum error"},
		{"wrong checksum of a compressed proto", string(wrongSum), Limits{}, "gzip: invalid checksum"},
		{"compressed proto that inflates over the limit", string(protoBomb), Limits{ArchiveBytes: 1 << 20}, "inflates to more"},
		{"compressed proto over the limit of a file", string(protoBomb), Limits{FileBytes: 1 << 20}, "more than 1048576 bytes"},
		{"a name twice in a tar", string(tarred(t, twice...)), Limits{}, "x!/d/a.hlo.pb: " + errTwice.Error()},
		{"a name twice in a zip", string(zipped(t, twice...)), Limits{}, "x!/d/a.hlo.pb: " + errTwice.Error()},
		{"a place twice, under two names", string(tarred(t, again...)), Limits{}, "x!/d//a.hlo.pb: " + errTwice.Error()},
		{"a second archive behind the first", string(behind), Limits{}, errBehind.Error()},
		{"a second archive behind the first, compressed", string(gzipped(t, behind)), Limits{}, errBehind.Error()},
		{"a bomb behind the archive", string(gzipped(t, append(tarred(t, [2]string{"notes", "x"}), make([]byte, 8<<20)...))), Limits{ArchiveBytes: 1 << 20}, "inflates to more"},
		{"inflates over the limit", string(bomb), Limits{ArchiveBytes: 1 << 20}, "inflates to more"},
		{"too many members", string(whole), Limits{ArchiveMembers: 1}, "more than 1 members"},
		{"too many members in a zip", string(zipped(t, make([][2]string, 40)...)), Limits{ArchiveMembers: 4}, "members"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			folder := files{"x": test.data}.write(t)
			assert.Contains(t, strings.Join(problems(t, folder, test.limits), "\n"), test.want)
		})
	}
}

// problems are what is wrong with file x of a folder: what Find says, and what reading says.
func problems(t *testing.T, folder string, limits Limits) (list []string) {
	t.Helper()
	r := NewReader(limits)
	for src, err := range Find([]string{filepath.Join(folder, "x")}, limits) {
		if err == nil {
			_, err = r.Read(src)
		}
		if err != nil {
			list = append(list, strings.TrimPrefix(src.Path, folder+"/")+": "+err.Error())
		}
	}
	require.NotEmpty(t, list)
	return list
}

// storedZip is a zip archive of a file that is not deflated.
func storedZip(t *testing.T, name string, data []byte) []byte {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	f, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
	require.NoError(t, err)
	_, err = f.Write(data)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.Bytes()
}

// TestLinksInArchives: what is no regular file is named where its name says that it is a
// module's, and never followed.
func TestLinksInArchives(t *testing.T) {
	var tarball, zipfile bytes.Buffer
	w := tar.NewWriter(&tarball)
	for _, h := range []tar.Header{
		{Name: "a.hlo.pb", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"},
		{Name: "b.hlo.pb", Typeflag: tar.TypeFifo},
	} {
		require.NoError(t, w.WriteHeader(&h))
	}
	require.NoError(t, w.Close())
	z := zip.NewWriter(&zipfile)
	for _, name := range []string{"a.hlo.pb", "b.hlo.pb"} {
		h := &zip.FileHeader{Name: name}
		h.SetMode(os.ModeSymlink | 0o777)
		link, err := z.CreateHeader(h)
		require.NoError(t, err)
		_, err = link.Write([]byte("/etc/passwd"))
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	for _, archive := range []string{tarball.String(), zipfile.String()} {
		folder := files{"x": archive}.write(t)
		assert.Equal(t, []string{"x!/a.hlo.pb: " + errLink.Error(), "x!/b.hlo.pb: " + errLink.Error()}, problems(t, folder, Limits{}))
	}
}
