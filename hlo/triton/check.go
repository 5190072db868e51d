package triton

import (
	"fmt"

	"aliascheck/hlo/triton/tritonpb"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// maxMessages bounds the messages inside one call. An empty message is two bytes
// in the file and a hundred in memory, so the inflated size alone bounds nothing.
// CUDA allows a kernel some 8,000 parameters, and no call has a hundred configurations.
const maxMessages = 1 << 16

// checkMessage walks the wire format of an AnyKernelCall before it is unmarshalled:
// every tag and length must fit, and the messages are counted. Unlike the
// unmarshaller's, its errors name the field and the byte.
func checkMessage(data []byte) error {
	c := checker{data: data}
	return c.message(0, len(data), (*tritonpb.AnyKernelCall)(nil).ProtoReflect().Descriptor())
}

// maxNumbers bounds the encoded bytes of all lists of numbers inside one call: a
// descriptor has at most 15 numbers, of at most 10 bytes.
const maxNumbers = 1 << 18

type checker struct {
	data     []byte
	messages int
	numbers  int // bytes
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
			continue
		}
		_, prefix := protowire.ConsumeVarint(c.data[start:pos])
		if err := c.message(start+prefix, pos, field.Message()); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) fail(pos int, where protoreflect.Name, err error) error {
	return fmt.Errorf("kernel call at byte %d, %s: %w", pos, where, err)
}
