package report

// The parts of SARIF 2.1.0 that aliascheck writes (OASIS, sarif-v2.1.0-os,
// section numbers behind each type). A result has everything a reader needs in
// itself; nothing is referred to by index but its rule.

type sarifMessage struct { // 3.11
	Text string `json:"text"`
}

type sarifTool struct { // 3.18, 3.19
	Driver struct {
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		Rules   []sarifRule `json:"rules"`
	} `json:"driver"`
}

type sarifRule struct { // reportingDescriptor, 3.49
	ID      string            `json:"id"`
	Name    string            `json:"name"`
	Short   sarifMessage      `json:"shortDescription"`
	Full    sarifMessage      `json:"fullDescription"`
	Help    sarifHelp         `json:"help"`
	Default sarifDefault      `json:"defaultConfiguration"`
	Extra   sarifRuleProperty `json:"properties"`
}

type sarifHelp struct { // multiformatMessageString, 3.12
	Text     string `json:"text"`
	Markdown string `json:"markdown"`
}

type sarifDefault struct { // reportingConfiguration, 3.50
	Level string `json:"level"`
}

type sarifRuleProperty struct {
	Tags            []string `json:"tags"`
	Precision       string   `json:"precision"`
	ProblemSeverity string   `json:"problem.severity"`
}

type sarifResult struct { // 3.27
	RuleID       string             `json:"ruleId"`
	RuleIndex    int                `json:"ruleIndex"`
	Level        string             `json:"level"`
	Message      sarifMessage       `json:"message"`
	Locations    []sarifLocation    `json:"locations"`
	Related      []sarifLocation    `json:"relatedLocations,omitempty"`
	Stacks       []sarifStack       `json:"stacks,omitempty"`
	Fingerprints map[string]string  `json:"partialFingerprints"`
	Occurrences  int                `json:"occurrenceCount"`
	Properties   sarifProperties    `json:"properties"`
	Suppressions []sarifSuppression `json:"suppressions,omitempty"` // 3.27.23
}

type sarifLocation struct { // 3.28
	ID       int            `json:"id,omitempty"`
	Physical *sarifPhysical `json:"physicalLocation,omitempty"`
	Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	Message  *sarifMessage  `json:"message,omitempty"`
}

type sarifPhysical struct { // 3.29
	Artifact sarifArtifact `json:"artifactLocation"`
	Region   *sarifRegion  `json:"region,omitempty"`
}

type sarifArtifact struct { // 3.4
	URI  string `json:"uri"`
	Base string `json:"uriBaseId,omitempty"`
}

type sarifRegion struct { // 3.30
	StartLine int `json:"startLine"`
}

type sarifLogical struct { // 3.33
	Name string `json:"name,omitempty"`
	Full string `json:"fullyQualifiedName,omitempty"`
	Kind string `json:"kind,omitempty"`
}

type sarifSuppression struct { // 3.35
	Kind          string `json:"kind"`
	Justification string `json:"justification"`
}

type sarifStack struct { // 3.44
	Message sarifMessage `json:"message"`
	Frames  []sarifFrame `json:"frames"`
}

type sarifFrame struct { // 3.45
	Location sarifLocation `json:"location"`
}

type sarifProperties struct {
	Target             string   `json:"target"`
	Kernel             string   `json:"kernel,omitempty"`
	Confirmation       string   `json:"confirmation"`
	ConfirmationReason string   `json:"confirmationReason,omitempty"`
	Fix                string   `json:"fix,omitempty"`
	Patch              string   `json:"patch,omitempty"` // the mend as code: lines with - and +
	Tests              []string `json:"tests,omitempty"`
	CompiledFor        []string `json:"compiledFor,omitempty"`
	NotFor             []string `json:"notFor,omitempty"`
}

type sarifInvocation struct { // 3.20
	Successful    bool                `json:"executionSuccessful"`
	Notifications []sarifNotification `json:"toolExecutionNotifications"`
}

type sarifNotification struct { // 3.58
	Level   string       `json:"level"`
	Message sarifMessage `json:"message"`
}
