package report

import (
	"bufio"
	"encoding/json"
	"io"

	"aliascheck/rules"
)

// JSON writes a report as JSON, one call and one finding a line: a big
// report is neither built in memory nor hard to search with line tools.
func JSON(w io.Writer, r *rules.Report, _ Options) error {
	out := bufio.NewWriterSize(w, 1<<16)
	head, err := json.Marshal(struct {
		SchemaVersion int           `json:"schema_version"`
		Tool          rules.Tool    `json:"tool"`
		Summary       rules.Summary `json:"summary"`
	}{r.SchemaVersion, r.Tool, r.Summary})
	if err != nil {
		return err
	}
	out.Write(head[:len(head)-1]) // a bufio.Writer keeps its first error for Flush
	out.WriteString(",\n\"calls\":[")
	var line, module []byte
	n := 0
	for _, calls := range r.Calls {
		module = appendModule(module[:0], &calls[0])
		for i := range calls {
			line = appendCall(append(separate(line[:0], n), module...), &calls[i])
			out.Write(line)
			n++
		}
	}
	out.WriteString("],\n\"findings\":[")
	for i := range r.Findings {
		b, err := json.Marshal(&r.Findings[i])
		if err != nil {
			return err
		}
		out.Write(append(separate(line[:0], i), b...))
	}
	if len(r.Lines) > 0 {
		b, err := json.Marshal(r.Lines)
		if err != nil {
			return err
		}
		out.WriteString("],\n\"lines\":")
		out.Write(b[:len(b)-1])
	}
	if len(r.Suppressed) > 0 {
		out.WriteString("],\n\"suppressed\":[")
		for i := range r.Suppressed {
			b, err := json.Marshal(&r.Suppressed[i])
			if err != nil {
				return err
			}
			out.Write(append(separate(line[:0], i), b...))
		}
	}
	out.WriteString("]}\n")
	return out.Flush()
}

func separate(b []byte, i int) []byte {
	if i > 0 {
		b = append(b, ',')
	}
	return append(b, '\n')
}
