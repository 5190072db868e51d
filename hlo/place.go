package hlo

import (
	"fmt"
	"strings"
)

// placeInProto names what stands at a place of wire, and where that is in the file:
// "x.hlo.pb: HloProto.hlo_module.computations[3].instructions[7].shape at byte 8123".
func (b *builder) placeInProto(at int32) string {
	offset := int64(at)
	for _, h := range b.m.holes {
		if h.at < at {
			offset += h.size
		}
	}
	return fmt.Sprintf("%s: %s at byte %d", b.m.Path, fieldPath(b.wire, int(at)), offset)
}

// protoField is a field of a message that is read.
type protoField struct {
	name     string
	message  string // of the contents; empty: no message, or none that matters
	repeated bool
}

// protoFields are the fields that fieldPath names, by message and number
// (xla/service/hlo.proto, xla/xla_data.proto).
func protoFields() map[string]map[uint64]protoField {
	return map[string]map[uint64]protoField{
		"HloProto": {1: {"hlo_module", "Module", false}, 3: {"buffer_assignment", "Assignment", false}},
		"Module": {
			1: {name: "name"}, 3: {"computations", "Computation", true}, 6: {name: "entry_computation_id"},
			7: {"schedule", "Schedule", false}, 8: {"input_output_alias", "Entries", false},
			17: {"stack_frame_index", "Frames", false}, 18: {"buffer_donor", "Entries", false},
		},
		"Computation": {
			1: {name: "name"}, 2: {"instructions", "Instruction", true}, 5: {name: "id"},
			6: {name: "root_id"}, 7: {name: "is_fusion_computation"},
		},
		"Instruction": {
			1: {name: "name"}, 2: {name: "opcode"}, 3: {"shape", "Shape", false}, 7: {name: "metadata"},
			8: {name: "literal"}, 9: {name: "parameter_number"}, 13: {name: "tuple_index"},
			28: {name: "custom_call_target"}, 35: {name: "id"}, 36: {name: "operand_ids"},
			37: {name: "control_predecessor_ids"}, 38: {name: "called_computation_ids"},
			43: {name: "backend_config"}, 65: {name: "custom_call_has_side_effect"},
			74: {name: "output_operand_aliasing", repeated: true}, 77: {name: "custom_call_api_version"},
		},
		"Shape": {
			2: {name: "element_type"}, 3: {name: "dimensions"},
			4: {"tuple_shapes", "Shape", true}, 5: {name: "layout"},
		},
		"Schedule": {1: {name: "sequences", repeated: true}},
		"Entries":  {1: {name: "entries", repeated: true}},
		"Frames": {
			1: {name: "file_names", repeated: true}, 2: {name: "function_names", repeated: true},
			3: {name: "file_locations", repeated: true}, 4: {name: "stack_frames", repeated: true},
		},
		"Assignment": {
			1: {"logical_buffers", "Buffer", true}, 2: {name: "buffer_aliases", repeated: true},
			3: {"buffer_allocations", "Allocation", true}, 4: {name: "heap_simulator_traces", repeated: true},
		},
		"Buffer": {1: {name: "id"}, 2: {name: "size"}, 3: {name: "defined_at"}, 4: {name: "color"}},
		"Allocation": {
			1: {name: "index"}, 2: {name: "size"}, 6: {name: "parameter_number"},
			9: {name: "assigned", repeated: true}, 10: {name: "parameter_shape_index"},
		},
	}
}

// maxPath bounds what of a hostile file's nesting an error shows.
const maxPath = 12

// fieldPath names the innermost known field that covers a byte of an HloProto.
func fieldPath(wire []byte, at int) string {
	path := []string{"HloProto"}
	known := protoFields()
	fs := newFields(wire)
	for message := "HloProto"; message != "" && len(path) < maxPath; {
		name, inner, f := fs.fieldAround(known[message], at)
		if name == "" {
			break
		}
		path = append(path, name)
		fs, message = inner, f.message
	}
	return strings.Join(path, ".")
}

// fieldAround finds the field of a message whose bytes cover at, with its number
// among its like, and what is inside.
func (fs fields) fieldAround(known map[uint64]protoField, at int) (string, fields, protoField) {
	counts := map[uint64]int{}
	for p := fs.start; p <= at && p < fs.end; {
		f, whole := fs.partAt(p)
		p = f.end
		of, ok := known[f.tag>>3]
		if ok && (at < p || p == fs.end) {
			name := of.name
			if of.repeated {
				name = fmt.Sprintf("%s[%d]", name, counts[f.tag>>3])
			}
			if f.tag&7 != wireBytes || at < f.start || !whole {
				of.message = ""
			}
			return name, fs.message(f), of
		}
		counts[f.tag>>3]++
	}
	return "", fields{}, protoField{}
}

// partAt reads the field at p, or what is there of one that is cut off or malformed: it
// ends the message.
func (fs fields) partAt(p int) (f field, whole bool) {
	quiet := fields{&input{data: fs.in.data}, p, fs.end}
	if f = quiet.first(); f.tag != 0 {
		return f, true
	}
	tag, start := quiet.numberAt(p)
	return field{tag: uint64(tag), start: start, end: fs.end}, false
}
