package hlo

// readText appends what the two texts hold to the builder: the module as
// HloModule::ToString prints it, and BufferAssignment::ToString's. The caller links and
// checks. Errors name file, line and column, path or assignmentPath.
func (b *builder) readText(text, assignment []byte, path, assignmentPath string) error {
	return readError("text is not read yet")
}
