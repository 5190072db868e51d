package triton

import (
	"io"

	"aliascheck/hlo/kernel/attribute"

	"google.golang.org/protobuf/encoding/protowire"
)

const (
	// peekBytes is how much of a message Peek inflates at most: the kernel's name stands
	// behind three short tags at its beginning.
	peekBytes = 256
	// peekTags is where the name of nearly every kernel begins before, in bytes.
	peekTags = 16
	// peekPacked is how much of the compressed bytes is enough for nearly every name.
	peekPacked = 128
)

// Peek returns the kernel's name of a call that is not autotuned, from the first
// bytes of the message: the static rules need no more of most calls, and inflating a
// kernel's code takes longer than all of them. ok is false where the name is not
// there to be had this way; Decode then says what the call is, or what is wrong.
// Nothing behind the name is looked at, so nothing is said of it either. The name is
// valid until the next call.
func (d *Decoder) Peek(target string, config []byte) (name []byte, ok bool) {
	if Target(target) != TargetFFI {
		return d.peek(config)
	}
	for _, most := range [...]int{peekPacked, 4 * peekPacked} {
		packed, ok := attribute.Begin(config, `{opaque = "`, d.escaped[:0:most])
		if !ok {
			break
		}
		if name, ok = d.peek(packed); ok || d.inflater.err != io.ErrUnexpectedEOF {
			return name, ok
		}
	}
	return nil, false
}

// peek is Peek from the beginning of the compressed bytes.
func (d *Decoder) peek(packed []byte) ([]byte, bool) {
	d.inflater.start(packed, d.head[:])
	d.inflater.until(peekTags)
	from, to := kernelName(d.head[:d.inflater.n])
	if from == 0 || to > len(d.head) {
		return nil, false
	}
	d.inflater.until(to)
	return d.head[from:to], d.inflater.n >= to
}

// kernelName finds AnyKernelCall.kernel_call.kernel.kernel_name at the beginning of a
// message, where each stands first in its parent: the bytes from to to, which may lie
// beyond head.
func kernelName(head []byte) (from, to int) {
	const first = 1<<3 | byte(protowire.BytesType) // the tag of field 1, a message or bytes
	size := uint64(0)
	for range 3 {
		if from >= len(head) || head[from] != first {
			return 0, 0
		}
		v, n := protowire.ConsumeVarint(head[from+1:])
		if n < 0 {
			return 0, 0
		}
		from, size = from+1+n, v
	}
	if size > peekBytes {
		return 0, 0
	}
	return from, from + int(size)
}
