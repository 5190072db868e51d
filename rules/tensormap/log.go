package tensormap

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
)

const (
	// maxLine is the longest line that is looked at, in bytes: longer ones are
	// skipped. A print's lines are under 200.
	maxLine = 64 << 10
	// maxStreams is how many processes are told apart at once.
	maxStreams = 1024
	errorText  = "Failed to initialize the TMA descriptor"
	errorTVM   = "Error in cuTensorMapEncode"
	startText  = "TMA Desc Addr"
)

// LogStats counts what [ReadLog] read.
type LogStats struct {
	Lines     int64
	LongLines int64 // longer than 64 KiB: not looked at
	Unread    int64 // that name a descriptor's address in the middle of other text
}

// ReadLog reads a log and calls emit for everything in it that speaks of a TMA
// descriptor, as soon as it is certain, in about the order of the log. Other lines
// may stand between; lines of several processes are told apart by their prefixes,
// and where there are none and prints mingle, one Entangled entry says so.
//
// Memory is bounded whatever the log holds: one line of 64 KiB and at most 1,024
// prefixes at a time. The error is the reader's.
func ReadLog(r io.Reader, emit func(Entry)) (LogStats, error) {
	p := logReader{in: bufio.NewReaderSize(r, maxLine), words: newVocabulary(), streams: map[string]*stream{}, emit: emit}
	err := p.run()
	p.sweep(true)
	return p.stats, err
}

type logReader struct {
	in      *bufio.Reader
	words   *vocabulary
	streams map[string]*stream
	emit    func(Entry)
	stats   LogStats
}

func (p *logReader) run() error {
	for {
		line, err := p.in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			p.stats.LongLines++
			for errors.Is(err, bufio.ErrBufferFull) {
				_, err = p.in.ReadSlice('\n')
			}
			line = nil
			p.stats.Lines++
		} else if len(line) > 0 {
			p.stats.Lines++
			p.line(bytes.TrimRight(line, "\r\n"))
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// line looks at one line.
func (p *logReader) line(line []byte) {
	if bytes.IndexByte(line, '\r') >= 0 { // many times faster than the last one
		line = line[bytes.LastIndexByte(line, '\r')+1:] // what a progress bar drew before
	}
	if i := bytes.Index(line, []byte(errorText)); i >= 0 {
		p.message(line[:i], string(line[i+len(errorText):]))
		return
	}
	if i := bytes.Index(line, []byte(errorTVM)); i >= 0 {
		_, rest, _ := strings.Cut(string(line[i+len(errorTVM):]), ":")
		p.message(line[:i], rest)
		return
	}
	start := p.words.textStart(line)
	sp, text, ok := p.words.at(line[start:])
	if !ok {
		p.inside(line, start)
		return
	}
	p.stream(streamName(line[:start])).field(sp, string(text[:min(len(text), 512)]), p.stats.Lines, p.emit)
}

// inside looks for the beginning of a print in the middle of a line: after a progress
// bar that did not end its line, or amid the characters of another process.
func (p *logReader) inside(line []byte, start int) {
	i := bytes.Index(line, []byte(startText))
	if i < 0 {
		return
	}
	s := p.stream(streamName(line[:start]))
	sp, text, ok := p.words.at(line[i:])
	if _, err := parsePointer(string(text[:min(len(text), 64)])); ok && err == nil && s.quiet() {
		s.field(sp, string(text), p.stats.Lines, p.emit)
		return
	}
	p.stats.Unread++
	s.garbled(p.stats.Lines)
}

// message reads an error message: before it may stand a prefix and any other text,
// after it a code, the driver's text for one, or the descriptor's name.
func (p *logReader) message(before []byte, after string) {
	name := streamName(before[:p.words.textStart(before)])
	m := message{line: p.stats.Lines}
	after = after[:min(len(after), 256)]
	m.code, m.hasCode = parseCode(afterWords(after))
	if w := strings.Fields(after); !m.hasCode && len(w) > 0 && isName([]byte(w[0])) {
		m.name = w[0]
	}
	m.clean = m.hasCode || m.name != ""
	p.stream(name).errorMessage(m, p.emit)
}

// afterWords takes off "due to" and "error code".
func afterWords(s string) string {
	s = strings.TrimLeft(s, " ,:")
	s = strings.TrimPrefix(s, "due to ")
	return strings.TrimPrefix(s, "error code")
}

// stream gives the stream of a name, and makes room for a new one.
func (p *logReader) stream(name string) *stream {
	if s := p.streams[name]; s != nil {
		return s
	}
	if len(p.streams) >= maxStreams {
		p.sweep(false)
	}
	s := &stream{name: name, last: p.stats.Lines}
	p.streams[name] = s
	return s
}

// sweep settles and forgets the streams that have been idle, or all of them where
// that makes no room.
func (p *logReader) sweep(all bool) {
	names := slices.Sorted(maps.Keys(p.streams))
	for _, name := range names {
		if s := p.streams[name]; all || p.stats.Lines-s.last > idleLines {
			s.flush(p.emit)
			delete(p.streams, name)
		}
	}
	if len(p.streams) >= maxStreams {
		p.sweep(true)
	}
}
