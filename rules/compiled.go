package rules

import "slices"

// Compiled says what `aliascheck compile` compiled for one GPU.
type Compiled struct {
	GPU          string   `json:"gpu"`
	JAX          string   `json:"jax,omitempty"`
	Programs     int      `json:"programs"`     // that were compiled
	Failed       int      `json:"failed"`       // that could not be: Incomplete says why
	Placeholders []string `json:"placeholders"` // FFI targets that nobody had registered

	Tests *CompiledTests `json:"tests,omitempty"` // of `aliascheck run --target`
}

// CompiledTests are the tests of a run that compiled for an absent GPU.
type CompiledTests struct {
	Ended           int `json:"ended"`            // ran to their end
	Failed          int `json:"failed"`           // which means nothing: functions returned zeros
	CompiledNothing int `json:"compiled_nothing"` // came to no program
}

// Compiled notes what was compiled for one GPU.
func (c *Collector) Compiled(x Compiled) {
	if x.Placeholders == nil {
		x.Placeholders = []string{}
	}
	c.summary.Compiled = append(c.summary.Compiled, x)
}

// compare says of each finding for which GPUs it does not hold. A GPU that a program
// could not be compiled for says nothing: the finding may be in that program.
func (r *Report) compare() {
	for i := range r.Findings {
		f := &r.Findings[i]
		f.NotFor = nil
		for _, c := range r.Summary.Compiled {
			if len(f.CompiledFor) > 0 && c.Failed == 0 && c.Programs > 0 && !slices.Contains(f.CompiledFor, c.GPU) {
				f.NotFor = append(f.NotFor, c.GPU)
			}
		}
	}
}

// mergeCompiled joins what shards compiled.
func mergeCompiled(all, more []Compiled) []Compiled {
	for _, x := range more {
		n := slices.IndexFunc(all, func(c Compiled) bool { return c.GPU == x.GPU })
		if n < 0 {
			all = append(all, x)
			continue
		}
		all[n].Programs += x.Programs
		all[n].Failed += x.Failed
		all[n].Placeholders = union(all[n].Placeholders, x.Placeholders)
	}
	return all
}
