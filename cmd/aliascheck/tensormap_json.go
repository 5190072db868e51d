package main

import (
	"encoding/json"
	"fmt"
	"io"

	"aliascheck/rules"
	"aliascheck/rules/tensormap"
)

// tensormapJSON is the JSON report: that of an audit, and every descriptor.
type tensormapJSON struct {
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
	Kind      tensormap.Kind      `json:"kind"`
	Dialect   string              `json:"dialect"`
	Name      string              `json:"name,omitempty"`
	FirstLine int64               `json:"first_line,omitempty"`
	LastLine  int64               `json:"last_line,omitempty"`
	Prints    int                 `json:"prints"`
	Processes []string            `json:"processes"`
	Addresses []string            `json:"addresses"`
	LogCode   *int                `json:"log_code,omitempty"`
	Function  string              `json:"function"`
	Given     map[string]string   `json:"parameters"`
	Corrected map[string]string   `json:"corrected,omitempty"` // all parameters, after the fix
	Problems  []string            `json:"problems"`
	Judgement tensormap.Judgement `json:"judgement"`
	Driver    *driverAnswer       `json:"driver,omitempty"`
}

func (r *tensormapReport) writeJSON(w io.Writer, full *rules.Report) error {
	out := tensormapJSON{SchemaVersion: full.SchemaVersion, Tool: full.Tool, Summary: full.Summary, Path: r.path, Lines: r.stats.Lines,
		Driver: r.about, Calls: full.Calls, Findings: full.Findings, Descriptors: make([]descriptorJSON, 0, len(r.groups))}
	for _, g := range r.groups {
		out.Descriptors = append(out.Descriptors, g.json())
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(out)
}

func (g *tensormapGroup) json() descriptorJSON {
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

func parameterMap(d *tensormap.Descriptor) map[string]string {
	out := map[string]string{}
	for _, p := range tensormapParameters(d) {
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
