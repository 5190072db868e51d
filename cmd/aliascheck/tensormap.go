package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"aliascheck/cmd/aliascheck/audit"
	"aliascheck/cmd/aliascheck/cli"
	"aliascheck/cmd/aliascheck/report"
	"aliascheck/cmd/aliascheck/tensormap"
	"aliascheck/rules"
	tma "aliascheck/rules/tensormap"

	"github.com/spf13/cobra"
)

// tensormapOptions are the flags of `aliascheck tensormap`.
type tensormapOptions struct {
	formats []string // report formats and the descriptor's data type
	outputs []string
	failOn  string
	color   string
	driver  bool
	params  tensormap.Params
}

func newTensormapCommand(a *cli.App) *cobra.Command {
	o := tensormapOptions{}
	cmd := &cobra.Command{
		Use:   "tensormap [flags] [FILE|-]",
		Short: "Explain the TMA descriptors of a log, or one given by flags",
		Long: `tensormap reads a log in which a library printed TMA descriptors, and holds
each to the rules of cuTensorMapEncodeTiled: which rule it breaks, which
value, why the hardware wants it, what probably happened, and the smallest
change that makes it legal. It knows the prints of CUTLASS, tilelang, TVM and
TensorRT-LLM (FlashInfer), amid any other output. Processes are told apart by
prefixes such as "[rank3]:", "3:" or "(pid=7120)"; prints that mingle without
any are not guessed at.

FILE may be - for standard input, which is also read where neither FILE nor
parameters are given.

Or describe one descriptor by flags, named as the driver's documentation names
its parameters. Dimensions stand innermost first, strides count bytes, and
there is none for dimension 0. An im2col descriptor is one with pixel-box or
per-pixel flags.

--format takes the format of the report (text, json, ...) and the descriptor's
data type (bf16, 9, ...): the words differ, and it may be given twice.

Exit codes: 0 no descriptor is refused; 1 some are; 2 some could not be
judged, or the log could not be read.`,
		Example: `  aliascheck tensormap train.log
  srun -l python train.py 2>&1 | aliascheck tensormap --format json -
  aliascheck tensormap --format bf16 --dims 128,1,32 --strides 2,256 \
      --box 64,128,1 --swizzle 128B
  aliascheck tensormap --format f16 --dims 64,32,32,8 \
      --strides 128,4096,131072 --pixel-box-lower=-1,-1 \
      --pixel-box-upper=-1,-1 --channels-per-pixel 64 --pixels-per-column 128`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fmt.Errorf("one log at a time, and %d were named: `cat LOG... | aliascheck tensormap` reads them all", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd, a, args)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.formats, "format", nil, "`FORMAT` of the report, or data type of the descriptor")
	f.StringArrayVar(&o.outputs, "output", nil, "write another report, as `FORMAT=FILE`; may be repeated")
	f.StringVar(&o.failOn, "fail-on", "error", "exit 1 on findings of this `SEVERITY` or graver: error, warning, note or never")
	f.StringVar(&o.color, "color", "auto", "`WHEN` to colour the text report: auto, always or never")
	f.BoolVar(&o.driver, "driver", false, "ask the driver of this machine as well, and say where it differs")
	o.params.AddFlags(f)
	return cmd
}

// Dumps judges what the flags or the log describe.
func (o *tensormapOptions) run(cmd *cobra.Command, a *cli.App, args []string) error {
	format, dataType, err := splitFormats(o.formats)
	if err != nil {
		return err
	}
	audit := audit.Options{Format: format, Outputs: o.outputs, FailOn: o.failOn, FindingsCode: cli.ExitFindings, Color: o.color, Replay: "off", Jobs: 1}
	if err := audit.Check(); err != nil {
		return err
	}
	outputs, err := audit.ParseOutputs(a)
	if err != nil {
		return err
	}
	found, err := o.read(a, cmd, args, dataType)
	if err != nil {
		return err
	}
	if o.driver {
		found.AskDriver(tensormap.OpenDriver)
	}
	formats := []string{format}
	for _, spec := range o.outputs {
		name, _, _ := strings.Cut(spec, "=")
		formats = append(formats, name)
	}
	return o.finish(a, found, outputs, formats)
}

// splitFormats tells report formats and data types apart.
func splitFormats(values []string) (reportFormat, dataType string, err error) {
	reportFormat = "text"
	seen := false
	for _, v := range values {
		if slices.Contains(report.Formats(), v) {
			if seen {
				return "", "", fmt.Errorf("--format %s: the report has a format already; --output FORMAT=FILE writes more", v)
			}
			reportFormat, seen = v, true
			continue
		}
		if _, err := tma.ParseDataType(v); err != nil {
			return "", "", fmt.Errorf("--format %q is neither a report format (%s) nor a data type (u8, f16, bf16, f32, ... or the driver's number)",
				v, strings.Join(report.Formats(), ", "))
		}
		if dataType != "" {
			return "", "", fmt.Errorf("--format %s: the descriptor has a data type already", v)
		}
		dataType = v
	}
	return reportFormat, dataType, nil
}

// read takes in what the flags describe, or a log: a file, or standard input.
func (o *tensormapOptions) read(a *cli.App, cmd *cobra.Command, args []string, dataType string) (*tensormap.Report, error) {
	if o.params.Given(cmd.Flags()) || dataType != "" {
		if len(args) > 0 {
			return nil, errors.New("parameters describe one descriptor and a log many: give one or the other")
		}
		d, err := o.params.Descriptor(dataType, cmd.Flags())
		if err != nil {
			return nil, err
		}
		found := tensormap.New("parameters")
		found.Add(tma.Entry{Kind: tma.Printed, Dialect: "flags", Descriptor: d})
		return found, nil
	}
	if len(args) == 0 || args[0] == "-" {
		found := tensormap.New("-")
		found.ReadLog(a.Stdin)
		return found, nil
	}
	f, err := os.Open(args[0])
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s is a directory; a log was expected", args[0])
	}
	found := tensormap.New(args[0])
	found.ReadLog(f)
	return found, nil
}

// finish writes the reports and says how it ended. Text and JSON show every
// descriptor; the other formats are the findings alone.
func (o *tensormapOptions) finish(a *cli.App, found *tensormap.Report, outputs []audit.Output, formats []string) error {
	full := found.Audit(a.Tool())
	for i := range outputs {
		switch formats[i] {
		case "text":
			outputs[i].Write = found.WriteText
		case "json":
			outputs[i].Write = func(w io.Writer, r *rules.Report, _ report.Options) error { return found.WriteJSON(w, r) }
		}
		if err := outputs[i].To(a, full); err != nil {
			return fmt.Errorf("writing the report: %w", err)
		}
	}
	return (&audit.Job{Options: &audit.Options{FailOn: o.failOn, FindingsCode: cli.ExitFindings}}).Exit(full)
}
