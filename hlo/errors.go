package hlo

import (
	"errors"
	"io/fs"
)

// bare is a file error without the path, which the caller names.
func bare(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// readError is an error that needs no place beyond the file.
type readError string

func (e readError) Error() string { return string(e) }

const (
	errNoModule = readError("no hlo_module in it: not an HloProto, or cut off")
	// ErrNoAssignment: the module is there, but not where its buffers lie.
	errNoAssignment = readError("no buffer_assignment in it: the module before XLA assigned buffers, or cut off. " + dumpHint)
	errShrank       = readError("file shrank while it was read")
	errGrew         = readError("file grew while it was read")
	errInflates     = readError("inflates to more than the limit")
	errNotRegular   = readError("not a regular file")
)

// dumpHint says how to get what is missing.
const dumpHint = `Dump it with XLA_FLAGS="--xla_dump_to=DIR --xla_dump_hlo_as_proto --xla_dump_hlo_as_text"`
