package hlo

// transcoder turns a text pair into the HloProto that it stands for.
type transcoder struct{}
type textPair struct {
	path, assignmentPath string
	text, assignment     []byte
}

func (t *transcoder) transcode(p textPair, limits Limits) ([]byte, error) { return nil, errShrank }
func (t *transcoder) place(p textPair, at int32) string                   { return "" }
