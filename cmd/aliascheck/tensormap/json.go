package tensormap

import (
	"encoding/json"
	"fmt"
	"io"

	"aliascheck/rules"
	tma "aliascheck/rules/tensormap"
)

// jsonReport is the JSON report: that of an audit, and every descriptor.
type jsonReport struct {
	SchemaVersion int              `json:"schema_version"`
	Tool          rules.Tool       `json:"tool"`
	Summary       rules.Summary    `json:"summary"`
	Path          string           `json:"path"`
	Lines         int64            `json:"lines"`
	Driver        string           `json:"driver,omitempty"` // the driver that was asked
	Calls         rules.Calls      `json:"calls"`
	Descriptors   []descriptorJSON `json:"descriptors"`
	Findings      []rules.Finding  `json:"findings"`
}

// descriptorJSON is one distinct descriptor. Numbers past 2^53 and addresses are
// text, so that no reader rounds them.
type descriptorJSON struct {
	Kind      tma.Kind          `json:"kind"`
	Dialect   string            `json:"dialect"`
	Name      string            `json:"name,omitempty"`
	FirstLine int64             `json:"first_line,omitempty"`
	LastLine  int64             `json:"last_line,omitempty"`
	Prints    int               `json:"prints"`
	Processes []string          `json:"processes"`
	Addresses []string          `json:"addresses"`
	LogCode   *int              `json:"log_code,omitempty"`
	Function  string            `json:"function"`
	Given     map[string]string `json:"parameters"`
	Corrected map[string]string `json:"corrected,omitempty"` // all parameters, after the fix
	Problems  []string          `json:"problems"`
	Judgement tma.Judgement     `json:"judgement"`
	Driver    *driverAnswer     `json:"driver,omitempty"`
}

// WriteJSON writes the report of an audit with every descriptor in it.
func (r *Report) WriteJSON(w io.Writer, full *rules.Report) error {
	out := jsonReport{SchemaVersion: full.SchemaVersion, Tool: full.Tool, Summary: full.Summary, Path: r.path, Lines: r.stats.Lines,
		Driver: r.about, Calls: full.Calls, Findings: full.Findings, Descriptors: make([]descriptorJSON, 0, len(r.groups))}
	for _, g := range r.groups {
		out.Descriptors = append(out.Descriptors, g.json())
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(out)
}

func (g *group) json() descriptorJSON {
	e := &g.entry
	d := descriptorJSON{Kind: e.Kind, Dialect: e.Dialect, Name: e.Name, FirstLine: e.First, LastLine: e.Last, Prints: g.prints,
		Processes: append([]string{}, g.streams...), Addresses: hexAddresses(g.addresses), Function: e.Descriptor.Mode.Function(),
		Given: parameterMap(&e.Descriptor), Problems: append([]string{}, e.Problems...), Judgement: g.judgement, Driver: g.driver}
	if e.HasCode {
		code := int(e.Code)
		d.LogCode = &code
	}
	if g.judgement.Fix != nil {
		d.Corrected = parameterMap(&g.judgement.Fix.Corrected)
	}
	return d
}

func parameterMap(d *tma.Descriptor) map[string]string {
	out := map[string]string{}
	for _, p := range parametersOf(d) {
		out[p.name] = p.value
	}
	return out
}

func hexAddresses(addresses []uint64) []string {
	out := make([]string, len(addresses))
	for i, a := range addresses {
		out[i] = fmt.Sprintf("%#x", a)
	}
	return out
}
