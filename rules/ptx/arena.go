package ptx

import (
	"sync"
	"sync/atomic"
)

const (
	chunkLog  = 8
	chunkSize = 1 << chunkLog
	maxChunks = 1 << 21
)

// arena holds elements that several workers append, each to chunks of its own.
type arena[T any] struct {
	mu     sync.Mutex
	chunks atomic.Pointer[[]*[chunkSize]T]
	size   int64             // bytes of an element
	spent  func(bytes int64) // told of each chunk
}

func newArena[T any](size int64, spent func(bytes int64)) *arena[T] {
	a := &arena[T]{size: size, spent: spent}
	a.chunks.Store(&[]*[chunkSize]T{})
	return a
}

// bytes is the memory of the elements that there is room for.
func (a *arena[T]) bytes() int64 { return int64(len(*a.chunks.Load())) * chunkSize * a.size }

// grow adds a chunk and gives its number.
func (a *arena[T]) grow() (n uint32, chunk *[chunkSize]T, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	old := *a.chunks.Load()
	if len(old) >= maxChunks {
		return 0, nil, false
	}
	chunk = new([chunkSize]T)
	list := append(old, chunk)
	a.chunks.Store(&list)
	a.spent(chunkSize * a.size)
	var none T
	chunk[0] = none // a page of memory that is read before it is written to is mapped twice
	return uint32(len(old)), chunk, true
}

// cursor is a worker's place in an arena.
type cursor[T any] struct {
	a         *arena[T]
	list      []*[chunkSize]T // of the arena, as far as the worker has looked
	next, end uint32
	chunk     *[chunkSize]T
}

func newCursor[T any](a *arena[T]) cursor[T] { return cursor[T]{a: a, list: *a.chunks.Load()} }

// get gives an element by number.
func (c *cursor[T]) get(i uint32) *T {
	if int(i>>chunkLog) >= len(c.list) {
		c.list = *c.a.chunks.Load()
	}
	return &c.list[i>>chunkLog][i&(chunkSize-1)]
}

// alloc gives a new element's number; ok is false when the arena is full.
func (c *cursor[T]) alloc() (i uint32, x *T, ok bool) {
	if c.next == c.end {
		n, chunk, ok := c.a.grow()
		if !ok {
			return 0, nil, false
		}
		c.chunk, c.next, c.end = chunk, n<<chunkLog, n<<chunkLog+chunkSize
	}
	i = c.next
	c.next++
	return i, &c.chunk[i&(chunkSize-1)], true
}
