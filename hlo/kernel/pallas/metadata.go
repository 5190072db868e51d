package pallas

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// Fields of xla.gpu's ThunkMetadataListProto, ThunkMetadataProto and ThunkInfoProto
// (xla/backends/gpu/runtime/thunk.proto).
const (
	listMetadata   = 1
	metadataInfo   = 1
	metadataKind   = 2
	infoAnnotation = 1
	infoThunk      = 3
)

// readMetadataProto is readMetadata for the same list as a proto.
func readMetadataProto(data []byte) (map[string][]uint64, error) {
	out := map[string][]uint64{}
	total := 0
	err := eachField(data, 0, func(number protowire.Number, _ uint64, entry []byte, at int) error {
		if number != listMetadata {
			return nil
		}
		var name, kind string
		var thunk uint64
		err := eachField(entry, at, func(number protowire.Number, _ uint64, value []byte, at int) error {
			switch number {
			case metadataKind:
				kind = string(value)
			case metadataInfo:
				return eachField(value, at, func(number protowire.Number, n uint64, text []byte, _ int) error {
					switch number {
					case infoAnnotation:
						name = string(text)
					case infoThunk:
						thunk = n
					}
					return nil
				})
			}
			return nil
		})
		if err != nil || kind != "kCustomKernel" || name == "" {
			return err
		}
		if total++; total > maxThunks {
			return errManyThunks
		}
		out[name] = append(out[name], thunk)
		return nil
	})
	return out, err
}

// eachField calls f with each field of a message that begins at byte at of the file: a
// number, or bytes and where they begin.
func eachField(data []byte, at int, f func(number protowire.Number, n uint64, bytes []byte, at int) error) error {
	for len(data) > 0 {
		number, kind, tag := protowire.ConsumeTag(data)
		if tag < 0 {
			return fmt.Errorf("byte %d: %w", at, protowire.ParseError(tag))
		}
		var n uint64
		var value []byte
		size := 0
		switch kind {
		case protowire.VarintType:
			n, size = protowire.ConsumeVarint(data[tag:])
		case protowire.BytesType:
			value, size = protowire.ConsumeBytes(data[tag:])
		default:
			size = protowire.ConsumeFieldValue(number, kind, data[tag:])
		}
		if size < 0 {
			return fmt.Errorf("byte %d: field %d: %w", at, number, protowire.ParseError(size))
		}
		if err := f(number, n, value, at+tag+size-len(value)); err != nil {
			return err
		}
		data, at = data[tag+size:], at+tag+size
	}
	return nil
}
