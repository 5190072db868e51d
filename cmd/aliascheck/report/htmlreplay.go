package report

import (
	"encoding/json"
	"fmt"

	"aliascheck/cudarun"
	"aliascheck/rules"
)

// htmlRun is a row of the table of replays.
type htmlRun struct {
	Where     string `json:"where"`
	How       string `json:"how"`
	Runs      int    `json:"runs"`
	Differing int    `json:"differing"`
	Most      int64  `json:"most"`
	Of        int64  `json:"of,omitempty"`
	Reason    string `json:"reason,omitempty"` // why there are no figures
}

// htmlWrong says which elements of one buffer are wrong.
type htmlWrong struct {
	Label   string  `json:"label"`
	Unit    string  `json:"unit"`
	Count   int64   `json:"count"`
	Of      int64   `json:"of"`
	First   int64   `json:"first"`
	Largest float64 `json:"largest,omitempty"`
	Map     []int64 `json:"map,omitempty"`
}

// maxRuns bounds the rows and maps of one finding.
const maxRuns = 40

func evidenceView(v *htmlFinding, e *rules.Evidence, root string) {
	if m := e.Emulated; m != nil {
		if m.Witness != nil {
			v.Witness = &htmlWitness{m.Witness.Byte, accessView(m.Witness.Reader, root), accessView(m.Witness.Writer, root)}
		}
		emulatedRuns(v, m)
	}
	if len(e.GPU) > 0 {
		var o cudarun.Outcome
		if err := json.Unmarshal(e.GPU, &o); err != nil {
			v.ReplayNote += " The report holds a GPU replay of a form that this version does not know."
			return
		}
		gpuRuns(v, &o)
	}
	v.Runs, v.Wrong = v.Runs[:min(len(v.Runs), maxRuns)], v.Wrong[:min(len(v.Wrong), maxRuns)]
}

func emulatedRuns(v *htmlFinding, m *rules.Emulated) {
	for _, run := range m.Replay {
		how := Clean(run.Order)
		if how != "autotuner trials" {
			how = "shared, blocks " + how
		}
		row := htmlRun{Where: "PTX machine", How: how, Runs: 1}
		for _, d := range run.Differing {
			row.Most += d.Elements
			row.Of += d.Of
			if d.Elements > 0 {
				v.Wrong = append(v.Wrong, htmlWrong{
					Label: "PTX machine, " + how + ", " + resultName(&rules.Finding{ResultIndex: d.ResultIndex}),
					Unit:  "elements", Count: d.Elements, Of: d.Of, First: d.First, Map: d.Map[:min(len(d.Map), 64)]})
			}
		}
		if row.Most > 0 {
			row.Differing = 1
		}
		v.Runs = append(v.Runs, row)
	}
	switch {
	case m.Complete:
		v.ReplayNote = "The PTX machine ran every block and thread, and no access depended on what the operands held."
	case m.Basis == "inputs":
		v.ReplayNote = "The PTX machine ran every block and thread; the verdict is for the inputs that it tried."
	case m.Basis == "sampled":
		v.ReplayNote = "The PTX machine ran some of the blocks."
	}
	for n, in := range m.Inputs {
		if n == 8 {
			break
		}
		v.ReplayNote += fmt.Sprintf(" Operand %d: %s, seed %d.", in.Operand, Clean(in.Kind), in.Seed)
	}
}

func gpuRuns(v *htmlFinding, o *cudarun.Outcome) {
	where := "GPU"
	if o.Device != nil {
		where = Clean(o.Device.Name)
	}
	if o.Skipped != "" {
		v.Runs = append(v.Runs, htmlRun{Where: where, How: "not run", Reason: Clean(o.Skipped)})
	}
	for i := range o.Configurations {
		c := &o.Configurations[i]
		prefix := ""
		if len(o.Configurations) > 1 {
			prefix = shorten(Clean(c.Description), 40) + " "
		}
		if c.Reason != "" {
			v.Runs = append(v.Runs, htmlRun{Where: where, How: prefix, Reason: Clean(c.Reason)})
		}
		modeRuns(v, where, prefix+"shared, whole card", c.Shared)
		modeRuns(v, where, prefix+"shared, confined", c.Confined)
		modeRuns(v, where, prefix+"apart again, as a control", c.Control)
		if c.Stop != nil {
			v.Runs = append(v.Runs, htmlRun{Where: where, How: prefix + string(c.Stop.Mode),
				Reason: Clean(fmt.Sprintf("%s in run %d: %s", c.Stop.Kind, c.Stop.Run, c.Stop.Error))})
		}
	}
	if t := o.Trials; t != nil {
		trialRuns(v, where, t)
	}
}

func modeRuns(v *htmlFinding, where, how string, m *cudarun.ModeOutcome) {
	if m == nil {
		return
	}
	if m.SMs > 0 {
		how += fmt.Sprintf(" (%d multiprocessors)", m.SMs)
	}
	row := htmlRun{Where: where, How: how, Runs: m.Runs, Differing: m.Differing, Most: m.Most, Reason: Clean(m.Reason)}
	for _, d := range m.Worst {
		row.Of += d.Of
		wrongBuffer(v, where+", "+how, d)
	}
	v.Runs = append(v.Runs, row)
}

func trialRuns(v *htmlFinding, where string, t *cudarun.TrialOutcome) {
	for _, x := range []struct {
		how string
		run *cudarun.TrialRun
	}{
		{"after the autotuner's trials, as written", t.AsWritten},
		{"after trials, all restored (control)", t.AllSaved},
		{"after trials, nothing restored", t.NoneSaved},
	} {
		if x.run == nil {
			continue
		}
		row := htmlRun{Where: where, How: x.how, Runs: 1}
		for _, d := range x.run.Results {
			row.Most += d.Count
			row.Of += d.Of
			wrongBuffer(v, where+", "+x.how, d)
		}
		if row.Most > 0 {
			row.Differing = 1
		}
		if x.run.Stop != nil {
			row.Reason = Clean(fmt.Sprintf("%s: %s", x.run.Stop.Kind, x.run.Stop.Error))
		}
		v.Runs = append(v.Runs, row)
	}
}

func wrongBuffer(v *htmlFinding, how string, d cudarun.Difference) {
	if d.Count == 0 {
		return
	}
	label := d.Label
	if label == "" {
		label = fmt.Sprintf("buffer %d", d.Buffer)
	}
	v.Wrong = append(v.Wrong, htmlWrong{
		Label: how + ", " + Clean(label), Unit: Clean(d.Unit), Count: d.Count, Of: d.Of, First: d.First,
		Largest: d.Largest, Map: d.Map[:min(len(d.Map), 64)]})
}
