package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"aliascheck/cmd/aliascheck/audit"
	"aliascheck/cmd/aliascheck/cli"
	"aliascheck/hlo"
	"aliascheck/rules"

	"github.com/spf13/cobra"
)

func newMergeCommand(a *cli.App) *cobra.Command {
	o := audit.Options{Replay: "off", Jobs: 1}
	cmd := &cobra.Command{
		Use:   "merge [flags] REPORT.json...",
		Short: "Join the JSON reports of a sharded audit into one",
		Long: `merge joins JSON reports, of shards (--shard I/N) or of several dumps, into
one. Equal findings are counted once, with the calls and tests of all. REPORT
- is standard input.

The exit code is that of an audit of everything at once.`,
		Example: `  aliascheck --shard 3/16 --output json=shard-3.json dump_dir/
  aliascheck merge --output sarif=all.sarif --format markdown shard-*.json`,
		Args: cli.AtLeastOne("no report was named: `aliascheck merge shard-*.json` joins the reports that `--output json=FILE` wrote"),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := o.Check(); err != nil {
				return err
			}
			return mergeReports(a, &o, args)
		},
	}
	o.AddReportFlags(cmd)
	return cmd
}

// mergeReports reads the reports, and writes and judges what they amount to.
func mergeReports(a *cli.App, o *audit.Options, paths []string) error {
	outputs, err := o.ParseOutputs(a)
	if err != nil {
		return err
	}
	var reports []*rules.Report
	for _, path := range paths {
		r, err := readReport(a, path)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		reports = append(reports, r)
	}
	all, err := rules.Merge(reports)
	if err != nil {
		return err
	}
	for i := range outputs {
		if err := outputs[i].To(a, all); err != nil {
			return fmt.Errorf("writing the report: %w", err)
		}
	}
	return (&audit.Job{Options: o}).Exit(all)
}

// maxReport bounds a report that is read, in bytes.
const maxReport = 4 << 30

// readReport reads a JSON report and checks it.
func readReport(a *cli.App, path string) (*rules.Report, error) {
	in := a.Stdin
	if path != "-" {
		f, _, err := hlo.OpenRegular(path)
		if err != nil {
			return nil, errors.Unwrap(err) // the path is said by the caller
		}
		defer f.Close()
		in = f
	}
	limited := &io.LimitedReader{R: in, N: maxReport}
	decoder := json.NewDecoder(limited)
	var r rules.Report
	if err := decoder.Decode(&r); err != nil {
		if limited.N <= 0 {
			return nil, errors.New("it is longer than 4 GiB")
		}
		return nil, fmt.Errorf("not a JSON report of aliascheck: byte %d: %w", decoder.InputOffset(), err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, fmt.Errorf("byte %d: something follows the report", decoder.InputOffset())
	}
	return &r, r.Check()
}
