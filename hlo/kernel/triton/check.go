package triton

import (
	"fmt"

	"aliascheck/hlo/kernel/triton/tritonpb"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// maxMessages bounds the messages inside one call. An empty message is two bytes
// in the file and a hundred in memory, so the inflated size alone bounds nothing.
// CUDA allows a kernel some 8,000 parameters, and no call has a hundred configurations.
const maxMessages = 1 << 16

// checkMessage walks the wire format of an AnyKernelCall before it is unmarshalled:
// every tag and length must fit, and the messages are counted. Unlike the
// unmarshaller's, its errors name the field and the byte. It returns the message, from
// which it has taken the code where that is not wanted.
func checkMessage(data []byte, withoutCode bool) ([]byte, error) {
	c := checker{data: data, withoutCode: withoutCode}
	err := c.message(0, len(data), (*tritonpb.AnyKernelCall)(nil).ProtoReflect().Descriptor())
	return data[:c.kept], err
}

// maxNumbers bounds the encoded bytes of all lists of numbers inside one call: a
// descriptor has at most 15 numbers, of at most 10 bytes.
const maxNumbers = 1 << 18

type checker struct {
	data     []byte
	messages int
	numbers  int // bytes

	// What is kept moves to the front of data, below what is still to be checked.
	withoutCode bool
	kept        int
}

// message checks the fields in data[pos:end]. Its depth is that of our proto,
// which is not recursive: fields that the proto does not know are not entered.
func (c *checker) message(pos, end int, d protoreflect.MessageDescriptor) error {
	if c.messages++; c.messages > maxMessages {
		return fmt.Errorf("kernel call: more than %d messages", maxMessages)
	}
	for pos < end {
		number, wire, n := protowire.ConsumeTag(c.data[pos:end])
		if n < 0 {
			return c.fail(pos, d.Name(), protowire.ParseError(n))
		}
		field := d.Fields().ByNumber(number)
		size := protowire.ConsumeFieldValue(number, wire, c.data[pos+n:end])
		if size < 0 {
			name := protoreflect.Name(fmt.Sprintf("field %d", number))
			if field != nil {
				name = field.Name()
			}
			return c.fail(pos, d.Name()+"."+name, protowire.ParseError(size))
		}
		start := pos + n
		pos = start + size
		if field != nil && field.IsList() && field.Message() == nil {
			if c.numbers += size; c.numbers > maxNumbers {
				return fmt.Errorf("kernel call at byte %d, %s.%s: more than %d numbers", start, d.Name(), field.Name(), maxNumbers)
			}
		}
		if field == nil || field.Message() == nil || wire != protowire.BytesType {
			if !c.withoutCode || field == nil || !isCode(field) {
				c.keep(start-n, pos)
			}
			continue
		}
		_, prefix := protowire.ConsumeVarint(c.data[start:pos])
		c.keep(start-n, start+prefix)
		inner := c.kept
		if err := c.message(start+prefix, pos, field.Message()); err != nil {
			return err
		}
		c.setLength(inner-prefix, inner, c.kept-inner)
	}
	return nil
}

// isCode reports whether a field holds a kernel's code, which is nearly all of a call.
func isCode(field protoreflect.FieldDescriptor) bool {
	switch field.FullName().Name() {
	case "ptx", "ttir", "object_file":
		return true
	}
	return false
}

// keep moves data[from:to] behind what is kept already.
func (c *checker) keep(from, to int) {
	if from == c.kept { // nothing was left out before
		c.kept = to
		return
	}
	c.kept += copy(c.data[c.kept:], c.data[from:to])
}

// setLength writes a message's length as a varint of as many bytes as the old one had:
// it may be padded.
func (c *checker) setLength(from, to, n int) {
	for i := from; i < to; i++ {
		c.data[i] = byte(n)&0x7f | 0x80
		n >>= 7
	}
	c.data[to-1] &= 0x7f
}

func (c *checker) fail(pos int, where protoreflect.Name, err error) error {
	return fmt.Errorf("kernel call at byte %d, %s: %w", pos, where, err)
}
