"""The parse that aliascheck does, as a user of PyPI's protobuf would write it.

For each module of a folder: every custom call with the slices of its operands and
results, its declared pairs and its innermost source line, one JSON line a call.

    protoc --python_out=DIR -I testdata/bench testdata/bench/hlo.proto
    PYTHONPATH=DIR python testdata/bench/peer.py TREE > calls.jsonl
"""
import json
import os
import sys
import time

import hlo_pb2

FORWARD = {"bitcast", "opt-barrier", "while"}


def slices_by_position(assignment):
    """(allocation, offset, size) of every position that defines a value."""
    where = {}
    for allocation in assignment.buffer_allocations:
        for a in allocation.assigned:
            where[a.logical_buffer_id] = (allocation.index, a.offset, a.size)
    return {
        (b.defined_at.instruction_id, tuple(b.defined_at.shape_index)): where.get(b.id)
        for b in assignment.logical_buffers
    }


def leaves(shape, index=()):
    if shape.element_type != 13:
        yield index
    for i, element in enumerate(shape.tuple_shapes):
        yield from leaves(element, index + (i,))


def resolve(instruction, index, instructions, callers, slices):
    """The slice at a position: its own, or that of what it forwards."""
    for _ in range(1000):
        found = slices.get((instruction.id, index))
        if found is not None:
            return found
        operands = instruction.operand_ids
        if instruction.opcode == "get-tuple-element":
            index = (instruction.tuple_index,) + index
            instruction = instructions[operands[0]][0]
        elif instruction.opcode == "tuple" and index:
            instruction, index = instructions[operands[index[0]]][0], index[1:]
        elif instruction.opcode in FORWARD:
            instruction = instructions[operands[0]][0]
        elif instruction.opcode == "parameter":
            caller = callers.get(instructions[instruction.id][1])
            if caller is None:
                return None
            n = 0 if caller.opcode == "while" else instruction.parameter_number
            instruction = instructions[caller.operand_ids[n]][0]
        else:
            return None
    return None


def line(metadata, frames):
    if metadata.stack_frame_id:
        frame = frames.stack_frames[metadata.stack_frame_id - 1]
        location = frames.file_locations[frame.file_location_id - 1]
        return frames.file_names[location.file_name_id - 1], location.line
    return metadata.source_file, metadata.source_line


def audit(data, out):
    proto = hlo_pb2.Proto.FromString(data)
    module = proto.hlo_module
    instructions, callers = {}, {}
    for computation in module.computations:
        for instruction in computation.instructions:
            instructions[instruction.id] = (instruction, computation.id)
            for callee in instruction.called_computation_ids:
                callers[callee] = instruction
    slices = slices_by_position(proto.buffer_assignment)
    for computation in module.computations:
        for call in computation.instructions:
            if call.opcode != "custom-call":
                continue
            operands = [
                resolve(instructions[o][0], index, instructions, callers, slices)
                for o in call.operand_ids
                for index in leaves(instructions[o][0].shape)
            ]
            results = [resolve(call, index, instructions, callers, slices) for index in leaves(call.shape)]
            json.dump({
                "module": module.name, "instruction": call.name, "target": call.custom_call_target,
                "config": len(call.backend_config), "operands": operands, "results": results,
                "declared": [[list(p.output_shape_index), p.operand_index, list(p.operand_shape_index)]
                             for p in call.output_operand_aliasing],
                "source": line(call.metadata, module.stack_frame_index),
            }, out)
            out.write("\n")


def main():
    start, total = time.perf_counter(), 0
    for name in sorted(os.listdir(sys.argv[1])):
        if name.endswith("after_optimizations.hlo.pb"):
            with open(os.path.join(sys.argv[1], name), "rb") as f:
                data = f.read()
            total += len(data)
            audit(data, sys.stdout)
    seconds = time.perf_counter() - start
    print(f"{total / 1e6:.1f} MB in {seconds:.3f} s: {total / 1e6 / seconds:.1f} MB/s", file=sys.stderr)


main()
