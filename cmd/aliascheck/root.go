package main

import (
	"aliascheck/cmd/aliascheck/audit"
	"aliascheck/cmd/aliascheck/cli"

	"github.com/spf13/cobra"
)

func newRootCommand(a *cli.App) *cobra.Command {
	var o audit.Options
	root := &cobra.Command{
		Use:   "aliascheck [flags] DUMP...",
		Short: "Find custom calls that share memory which they should not",
		Long: `aliascheck reads what XLA dumps of JAX programs and finds custom calls whose
operands and results share memory that they must not share, kernels that are
not safe in place, and autotuners that destroy live buffers. It names the
Python line.

DUMP is a dump directory, a single .hlo.pb or .txt file, or a .tar.gz or .zip
of them. To make a dump, set this before JAX starts:

  XLA_FLAGS="--xla_dump_to=DIR --xla_dump_hlo_as_proto --xla_dump_hlo_as_text"

For Pallas kernels add --xla_dump_emitter_re=ptx (jaxlib 0.9 or newer), and set
MOSAIC_GPU_DUMP_TO to a folder in DIR that is there, one for each process.

Exit codes: 0 nothing at or above --fail-on; 1 findings; 2 the audit is not
whole or could not run.`,
		Example: `  aliascheck dump_dir/
  aliascheck --format json --output text=report.txt dump_dir/ other.zip
  aliascheck --baseline .aliascheck-baseline.yaml --update-baseline dump_dir/`,
		Version:       version(),
		Args:          cobra.ArbitraryArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := cli.Misspelt(cmd, args); err != nil {
				return err
			}
			return o.Dumps(cmd.Context(), a, args)
		},
	}
	root.SetVersionTemplate(versionLine())
	root.Flags().Bool("version", false, "print the version")
	root.SetFlagErrorFunc(cli.FlagError)
	root.SetUsageFunc(func(c *cobra.Command) error { return cli.Usage(c.OutOrStderr(), c, cli.Width(a.Stdout)) })
	o.AddFlags(root)
	o.JAX.Add(root)
	root.AddCommand(newRulesCommand(a), newExplainCommand(a), newVersionCommand(a), newInitCommand(a), newRunCommand(a), newCompileCommand(a), newDoctorCommand(a), newMergeCommand(a), newDiffCommand(a), newTensormapCommand(a), newReplayCommand(a), newSelftestCommand(a), newManCommand(a), newWorkerCommand(a))
	root.SetOut(a.Stdout) // the completion command takes it as it is made
	cli.RefuseShells(root)
	for _, c := range append(root.Commands(), root) {
		cli.CompleteValues(c)
	}
	return root
}
