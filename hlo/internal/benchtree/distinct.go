package main

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// distinct makes the n-th copy of a dump unlike the others.
type distinct struct {
	n       int
	literal int // bytes that the first constant's literal gets; 0: it stays
	calls   int // kernels changed so far
}

// proto changes an HloProto. Field numbers: xla/service/hlo.proto.
func (d *distinct) proto(data []byte) ([]byte, error) {
	computation := rule{number: func(id int64) int64 { return id + int64(d.n) }}
	instruction := rule{number: func(id int64) int64 { return id + int64(d.n)<<32 }}
	name := rule{bytes: func(name []byte) ([]byte, error) { return fmt.Appendf(nil, "%s_%d", name, d.n), nil }}
	instructions := rule{bytes: func(message []byte) ([]byte, error) {
		return d.instruction(message, rules{35: instruction, 36: instruction, 37: instruction, 38: computation})
	}}
	sequence := rules{1: instruction}
	location := rules{4: instruction}
	return rules{
		1: {message: rules{
			1: name,
			3: {message: rules{2: instructions, 5: computation, 6: instruction}},
			6: computation,
			7: {message: rules{1: {message: rules{1: computation, 2: {message: sequence}}}}},
		}},
		3: {message: rules{
			1: {message: rules{3: {message: location}}},
			2: {message: rules{2: {message: location}}},
		}},
	}.apply(data)
}

// instruction changes an HloInstructionProto: ids by the rules given, and a kernel.
func (d *distinct) instruction(message []byte, ids rules) ([]byte, error) {
	opcode, target := str(message, 2), str(message, 28)
	if strings.HasPrefix(target, "triton_kernel_call") {
		ids[43] = rule{bytes: func(config []byte) ([]byte, error) { return d.config(target, config) }}
	}
	if opcode == "constant" && d.literal > 0 {
		size := d.literal
		d.literal = 0
		ids[8] = rule{bytes: func([]byte) ([]byte, error) {
			return protowire.AppendBytes(protowire.AppendTag(nil, 3, protowire.BytesType), make([]byte, size)), nil // u8s
		}}
	}
	return ids.apply(message)
}

// str is a field of type string of a message; empty where it is not there.
func str(message []byte, want protowire.Number) string {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeField(message)
		if n < 0 {
			return ""
		}
		if number == want && kind == protowire.BytesType {
			_, _, tag := protowire.ConsumeTag(message)
			v, _ := protowire.ConsumeBytes(message[tag:])
			return string(v)
		}
		message = message[n:]
	}
	return ""
}

// config changes the kernel in a backend_config: the raw compressed call, or a
// dictionary with the call as the escaped string opaque.
func (d *distinct) config(target string, config []byte) ([]byte, error) {
	if target != "triton_kernel_call_ffi" {
		return d.compressed(config)
	}
	const before = `opaque = "`
	start := bytes.Index(config, []byte(before))
	if start < 0 {
		return nil, fmt.Errorf("no opaque in %.40q", config)
	}
	start += len(before)
	raw, size, err := unescape(config[start:])
	if err != nil {
		return nil, err
	}
	if raw, err = d.compressed(raw); err != nil {
		return nil, err
	}
	out := append([]byte(nil), config[:start]...)
	out = escape(out, raw)
	return append(out, config[start+size:]...), nil
}

// compressed adds a line to the PTX of a compressed AnyKernelCall (jaxlib's
// triton.proto): of its one kernel, or of each of an autotuned call's.
func (d *distinct) compressed(data []byte) ([]byte, error) {
	z, err := zlib.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	call, err := io.ReadAll(z)
	if err != nil {
		return nil, err
	}
	ptx := rule{bytes: func(ptx []byte) ([]byte, error) {
		d.calls++
		// A text ends with a zero byte in some releases: the comment goes first.
		return append(fmt.Appendf(nil, "// copy %d, kernel %d\n", d.n, d.calls), ptx...), nil
	}}
	kernelCall := rule{message: rules{1: {message: rules{4: ptx}}}}
	call, err = rules{
		1: kernelCall,
		2: {message: rules{2: {message: rules{1: kernelCall}}}},
	}.apply(call)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	if _, err := w.Write(call); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// unescape reads an MLIR string up to its closing quote, and tells its size in text.
func unescape(text []byte) (raw []byte, size int, err error) {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return raw, i, nil
		case c != '\\':
			raw = append(raw, c)
		case i+1 < len(text) && (text[i+1] == '\\' || text[i+1] == '"'):
			i++
			raw = append(raw, text[i])
		case i+2 < len(text):
			var b byte
			if _, err := fmt.Sscanf(string(text[i+1:i+3]), "%02X", &b); err != nil {
				return nil, 0, err
			}
			raw = append(raw, b)
			i += 2
		}
	}
	return nil, 0, fmt.Errorf("string is not closed")
}

// escape appends an MLIR string's contents.
func escape(out, raw []byte) []byte {
	for _, b := range raw {
		switch {
		case b == '\\':
			out = append(out, `\\`...)
		case b < ' ' || b >= 0x7f || b == '"':
			out = fmt.Appendf(out, `\%02X`, b)
		default:
			out = append(out, b)
		}
	}
	return out
}
