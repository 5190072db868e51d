package rules

// CardRunner is implemented by Effects that can run a kernel on a card, with its
// buffers apart.
type CardRunner interface {
	// OnCard gives what the card showed of the rule with this code, nil where that
	// is nothing.
	OnCard(code string) *Problem
}

// checkOnCard is the check of rules that only a card can answer.
func checkOnCard(p *Pass) {
	if r, ok := p.Effects.(CardRunner); ok {
		if problem := r.OnCard(p.rule.Code); problem != nil {
			p.Report(*problem)
		}
	}
}
