package hlo

// Source is one module that Find found: a file, two files of text, or members of an
// archive.
type Source struct {
	// Path is the file as the user would name it: archive.zip!/member inside
	// archives. Of a text pair it is the module's.
	Path string
	// Text tells a pair of text files, which Reader.Read reads instead of a proto.
	Text bool
	// Assignment is the path of the pair's …-buffer-assignment.txt.
	Assignment string
	// Values is the path of the pair's …-buffer-assignment-values.txt, empty where there
	// is none: older releases print what it holds behind the assignment.
	Values string

	member *member // of an archive: read already
	folder *folder // that it lies in; nil: made for it alone

	archive *archiveFolder // that it lies in; nil: in no archive
}

// member is what an archive had in a source's place.
type member struct {
	image                           // of an HloProto
	text, assignment, values []byte // of a text pair
}
