package ptx

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
)

// TestShadowMemory holds the record to the bytes that a launch touches.
func TestShadowMemory(t *testing.T) {
	for _, x := range benchLaunches(t) {
		for _, workers := range []int{1, 2} {
			l := x.make()
			l.Workers = workers
			o := analysed(t, l)
			assert.LessOrEqual(t, o.Stats.ShadowBytes, touched(o), "%s, %d workers", x.name, workers)
		}
	}
}

func TestSizesOfTheRecord(t *testing.T) {
	assert.EqualValues(t, eventBytes, unsafe.Sizeof(stored{}))
	assert.EqualValues(t, entryBytes, unsafe.Sizeof(entry{}))
	assert.EqualValues(t, leafBytes, unsafe.Sizeof(leaf{}))
	assert.EqualValues(t, ownerLineBytes, unsafe.Sizeof(ownerLine{}))
	assert.EqualValues(t, eventPairBytes, unsafe.Sizeof(eventPair{}))
	assert.EqualValues(t, pageBytes, unsafe.Sizeof(page{}))
	assert.EqualValues(t, backlogBytes, unsafe.Sizeof(backlog{}))
	assert.EqualValues(t, firstBytes, unsafe.Sizeof(firstPage{}))
	assert.Equal(t, soloBytes, 4)
}
