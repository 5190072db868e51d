package confirm

import (
	"strings"

	"aliascheck/rules/replay"
)

// join writes into a claim what an engine answered.
func join(c *replay.Claim, a *replay.Answer) {
	if a.Emulated != nil {
		joinEmulated(c, a.Emulated)
		return
	}
	if a.GPU != nil {
		if c.Evidence == nil {
			c.Evidence = &replay.Evidence{}
		}
		c.Evidence.GPU = a.GPU
	}
	joinWords(c, a.Confirmation, a.Where+a.Reason)
}

// joinEmulated writes what the machine's runs showed. A witness that the analysis has is
// a proof, whether the orders of blocks that were run show it or not.
func joinEmulated(c *replay.Claim, e *replay.Emulation) {
	if c.Evidence == nil {
		c.Evidence = &replay.Evidence{}
	}
	if c.Evidence.Emulated == nil {
		c.Evidence.Emulated = &replay.Emulated{Verdict: string(replay.Unknown), Basis: string(replay.NoBasis)}
	}
	shown := c.Evidence.Emulated
	shown.Replay = e.Runs
	switch {
	case e.Differs():
		c.Confirmation, c.Reason = replay.Confirmed, "replayed on the PTX machine: "+e.Words()
		if shown.Witness == nil && shown.Verdict == string(replay.Unknown) {
			shown.Verdict, shown.Basis = string(replay.Unsafe), string(replay.Inputs)
		}
	case shown.Witness != nil:
		c.Confirmation, c.Reason = replay.Confirmed, "the PTX machine has a witness"
		if e.Reason != "" {
			c.Reason += "; no replay: " + e.Reason
		} else {
			c.Reason += "; in the orders of blocks that were replayed no element differs"
		}
	case c.Confirmation == replay.Confirmed:
	case e.Reason != "":
		c.Confirmation, c.Reason = replay.Unchecked, e.Reason
	default:
		c.Confirmation, c.Reason = replay.Unconfirmed, "replayed on the PTX machine: no element differs"
	}
}

// joinWords writes what a card showed. What the machine proved stays: a card that does
// not show it refutes nothing.
func joinWords(c *replay.Claim, got replay.Confirmation, said string) {
	switch {
	case weight(got) > weight(c.Confirmation):
		if c.Confirmation != replay.Unchecked && c.Reason != "" && !strings.Contains(said, c.Reason) {
			said += "; " + c.Reason
		}
		c.Confirmation, c.Reason = got, said
	case c.Reason == "":
		c.Reason = said
	case got == replay.Unchecked && c.Confirmation == replay.Unchecked:
		c.Reason = said
	case !strings.Contains(said, c.Reason):
		c.Reason += "; " + said
	}
}

// weight orders confirmations by what they say.
func weight(c replay.Confirmation) int {
	switch c {
	case replay.Confirmed:
		return 3
	case replay.Refuted:
		return 2
	case replay.Unconfirmed:
		return 1
	}
	return 0
}
