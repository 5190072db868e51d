package hlo

// Source is one module that Find found: a file or a member of an archive.
type Source struct {
	Path string // as the user would name it; archive.zip!/member inside archives
	Text bool   // a pair of text files: Path and Assignment
	// Assignment is the path of the text pair's …-buffer-assignment.txt.
	Assignment string
}

// Incomplete is something that should have been a module and is none.
type Incomplete struct {
	Path  string
	Error error
}
