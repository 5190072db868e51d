package hlo

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzProto reads anything as an HloProto: it is refused, or the model is sound, and
// reading it piece by piece, with the smallest literals left out, gives the same.
func FuzzProto(f *testing.F) {
	for _, name := range []string{"histogram", "sort_in_cond", "sort_in_loop", "builtin_lib"} {
		data, err := os.ReadFile(one(f, name))
		require.NoError(f, err)
		f.Add(data)
	}
	f.Add([]byte(call().encode()))
	limits := Limits{ModelBytes: 64 << 20, LiteralBytes: 4}
	r, s := NewReader(limits), NewReader(limits)
	f.Fuzz(func(t *testing.T, data []byte) {
		whole, err := r.read(data)
		l := loader{limits: s.limits}
		loadErr := l.loadStream(bytes.NewReader(data))
		if err != nil {
			return
		}
		requireSound(t, whole)
		if loadErr != nil {
			return // it looks for literals where nothing is decoded, too
		}
		pieces, err := s.Read(Source{Path: "x.hlo.pb", member: &member{image: l.image}})
		require.NoError(t, err)
		requireSame(t, whole, pieces)
	})
}
