package triton

import (
	"bytes"

	"google.golang.org/protobuf/encoding/protowire"
)

// peekBytes is how much of a message Peek inflates at most: the kernel's name stands
// behind three short tags at its beginning.
const peekBytes = 256

// Peek returns the kernel's name of a call that is not autotuned, from the first
// bytes of the message: the static rules need no more of most calls, and inflating a
// kernel's code takes longer than all of them. ok is false where the name is not
// there to be had this way; Decode then says what the call is, or what is wrong.
// Nothing behind the name is looked at, so nothing is said of it either.
func (d *Decoder) Peek(target string, config []byte) (name []byte, ok bool) {
	for n := peekBytes / 4; n <= peekBytes; n *= 2 { // nearly all names are short
		packed := config
		if Target(target) == TargetFFI {
			if packed, ok = opaquePrefix(config, d.packed[:0], 2*n+peekBytes/2); !ok {
				return nil, false
			}
			d.packed = packed
		}
		got := d.prefix.inflate(packed, d.head[:n])
		if name, ok = kernelName(d.head[:got]); ok {
			return name, true
		}
	}
	return nil, false
}

// opaquePrefix unescapes the first bytes of the opaque, up to most, where it is the
// dictionary's first attribute, as jaxlib writes it.
func opaquePrefix(config, out []byte, most int) ([]byte, bool) {
	rest, ok := bytes.CutPrefix(config, []byte(`{opaque = "`))
	if !ok {
		return out, false
	}
	for at := 0; at < len(rest) && len(out) < most; {
		switch c := rest[at]; c {
		case '"':
			return out, true
		case '\\':
			if at+2 < len(rest) && hexDigits[rest[at+1]]|hexDigits[rest[at+2]] < 16 {
				out = append(out, hexDigits[rest[at+1]]<<4|hexDigits[rest[at+2]])
				at += 3
				continue
			}
			plain, size := unescape(rest[at:])
			if size == 0 {
				return out, false
			}
			out = append(out, plain)
			at += size
		default:
			out = append(out, c)
			at++
		}
	}
	return out, true
}

// kernelName reads AnyKernelCall.kernel_call.kernel.kernel_name from the beginning
// of a message, where each stands first in its parent.
func kernelName(head []byte) ([]byte, bool) {
	const first = 1<<3 | byte(protowire.BytesType) // the tag of field 1, a message or bytes
	for range 2 {
		if len(head) == 0 || head[0] != first {
			return nil, false
		}
		_, n := protowire.ConsumeVarint(head[1:])
		if n < 0 {
			return nil, false
		}
		head = head[1+n:]
	}
	if len(head) == 0 || head[0] != first {
		return nil, false
	}
	name, n := protowire.ConsumeBytes(head[1:])
	return name, n >= 0
}
