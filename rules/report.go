package rules

// SchemaVersion is the version of the JSON report. Fields are added, never changed.
const SchemaVersion = 1

// Report is the outcome of one audit, as the JSON report has it.
type Report struct {
	SchemaVersion int       `json:"schema_version"`
	Tool          Tool      `json:"tool"`
	Summary       Summary   `json:"summary"`
	Calls         Calls     `json:"calls"`
	Findings      []Finding `json:"findings"`
	// Lines is what a shard knows of the lines that calls pass, for a merge to choose
	// each finding's line as an audit of everything would.
	Lines []LineCalls `json:"lines,omitempty"`
	// Suppressed is what was silenced, where a report is to have it.
	Suppressed []Suppressed `json:"suppressed,omitempty"`
}

// Tool says who wrote a report.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Summary counts what was and was not audited.
type Summary struct {
	Modules     int          `json:"modules"`
	CustomCalls int          `json:"custom_calls"`
	Analysed    int          `json:"analysed"`
	Library     int          `json:"library"`
	Declared    int          `json:"declared,omitempty"` // not analysed, and the configuration says what they do
	Unanalysed  []Unanalysed `json:"unanalysed"`
	NotAudited  []NotAudited `json:"not_audited"`
	Errors      int          `json:"errors"`
	Warnings    int          `json:"warnings"`
	Notes       int          `json:"notes"`
	Suppressed  int          `json:"suppressed"`
	Deselected  int          `json:"deselected,omitempty"` // findings of rules that were not chosen
	Stale       []Stale      `json:"stale"`
	Incomplete  []Incomplete `json:"incomplete"`
	Compiled    []Compiled   `json:"compiled,omitempty"` // by `aliascheck compile`

	// Unknown are calls that were analysed, and yet nobody knows of a pair that is
	// declared or shares memory whether it may. They count as analysed, too.
	Unknown []Unanalysed `json:"unknown,omitempty"`
}

// Unanalysed is a group of calls whose kernel could not be analysed, or not for every pair.
type Unanalysed struct {
	Target string `json:"target"`
	Kernel string `json:"kernel"`
	Calls  int    `json:"calls"`
	Reason string `json:"reason"`
}

// NotAudited is a check that could not be made, and on how many calls.
type NotAudited struct {
	Check  string `json:"check"` // "AC104", ...
	Calls  int    `json:"calls"`
	Reason string `json:"reason"`
}

// Stale is a suppression or baseline entry that matched nothing, or has expired.
type Stale struct {
	Where  string `json:"where"` // file:line
	Text   string `json:"text"`
	Reason string `json:"reason"`
}

// Incomplete is an input that could not be read whole. It makes the exit code 2.
type Incomplete struct {
	Path  string `json:"path"`
	Error string `json:"error"`
}

// Call is one custom call and the verdicts on its pairs.
type Call struct {
	Module         string `json:"module"`
	Path           string `json:"path"`
	Computation    string `json:"computation"`
	Instruction    string `json:"instruction"`
	Target         string `json:"target"`
	Kernel         string `json:"kernel"`
	KernelSource   string `json:"kernel_source,omitempty"` // who compiled it: triton, pallas, mosaic
	Configurations int    `json:"configurations"`
	Pairs          []Pair `json:"pairs"`

	// Unanalysed is why the call's kernel could not be run; empty where it was, and
	// for library calls.
	Unanalysed string `json:"unanalysed,omitempty"`
	// Findings are the fingerprints of what was found here, suppressed ones too.
	Findings []string `json:"findings,omitempty"`
}

// Pair is an operand leaf and a result leaf of equal size, declared, shared, or free to be.
type Pair struct {
	Operand      int    `json:"operand"`
	OperandIndex []int  `json:"operand_index"`
	ResultIndex  []int  `json:"result_index"`
	Declared     bool   `json:"declared"`
	Shared       bool   `json:"shared"`
	Verdict      string `json:"verdict"` // safe, unsafe, unknown
	Basis        string `json:"basis"`   // complete, inputs, sampled, table, none
	Reason       string `json:"reason"`
	Engine       string `json:"engine,omitempty"` // "trace": the accesses of the card; empty: the PTX machine, or none
}

// Counts says that the verdict matters today: the pair is declared, or shares memory.
func (p *Pair) Counts() bool { return p.Declared || p.Shared }
