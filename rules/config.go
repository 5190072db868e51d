package rules

// Config is what .aliascheck.yaml says.
type Config struct {
	// LibraryCode names Python code that a finding's line is not to be in:
	// parts of a path ("site-packages", "jax/"), a file ("tcall.py"), or a function
	// of one ("programs.py:sort").
	LibraryCode []string
	// LibraryTargets are patterns of custom-call targets that are to be counted as
	// library calls; * stands for any text.
	LibraryTargets []string
	Kernels        []KnownKernel
	Suppressions   []Suppression
	Programs       []Program // for `aliascheck compile`
	Selection      Selection
	ReplayImports  []string // Python modules that register custom-call targets, for --replay jax
}
