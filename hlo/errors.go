package hlo

import (
	"errors"
	"io/fs"

	"aliascheck/hlo/transcode"
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
	errNoAssignment     = readError("no buffer_assignment in it: the module before XLA assigned buffers, or cut off. " + dumpHint)
	errNoAssignmentText = readError("its …-buffer-assignment.txt is missing. " + dumpHint)
	errNoModuleText     = readError("the module's own text is missing. " + dumpHint)
	errNotOptimized     = readError("only an earlier stage of this module is there, none after optimization: the compilation failed or was cut off, or the dump is not whole. " + dumpHint)
	errNothing          = readError("no module in it. " + dumpHint + ", in a directory that is empty, with the persistent compilation cache off")
	errNoDump           = readError("neither an HloProto, nor the text of a module, nor an archive of them. " + dumpHint)
	errNested           = readError("an archive inside an archive is not opened: unpack it first")
	errLink             = readError("no regular file: a link in an archive is not followed")
	errTwice            = readError("stands twice in the archive: only the first was read")
	errBehind           = readError("something follows the end of the archive")
	errMembers          = readError("the archive's directory is over the limit of members")
	errPassesEnd        = readError("field passes the end of its message")
	errShrank           = readError("file shrank while it was read")
	errGrew             = readError("file grew while it was read")
	errInflates         = readError("inflates to more than the limit")
	errLeadsOut         = readError("a link out of the dump is not followed: name what it leads to as a dump of its own")
	errNoCompanions     = readError("the files beside a module in an archive are not read")
	errNotRegular       = readError("not a regular file")
)

// dumpHint says how to get what is missing.
const dumpHint = transcode.DumpHint
