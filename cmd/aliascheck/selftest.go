package main

import (
	"aliascheck/cmd/aliascheck/cli"
	"aliascheck/cmd/aliascheck/selftest"

	"github.com/spf13/cobra"
)

func newSelftestCommand(a *cli.App) *cobra.Command {
	var devices []int
	cmd := &cobra.Command{
		Use:   "selftest",
		Short: "Show every rule and engine what it must find and what not",
		Long: `selftest audits modules whose faults are known, a pair for each rule, and runs
small kernels on every engine that this machine has: the PTX machine, a GPU,
and compute-sanitizer. A tool that has never reported an error cannot be told
from one that does not run.

Exit code: 0, or 2 where an engine said something else than it must.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return selftest.Write(cmd.Context(), a.Stdout, devices)
		},
	}
	cmd.Flags().IntSliceVar(&devices, "device", []int{0}, "GPUs to test, as numbers among those that CUDA_VISIBLE_DEVICES shows")
	return cmd
}
