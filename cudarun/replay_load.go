package cudarun

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// load loads kernel i. A reason says that this card, or the driver's compiler,
// does not take it; an error is anything else.
func (r *rerun) load(i int, c *ConfigOutcome) (reason string, err error) {
	k := &r.plan.Kernels[i]
	r.progress("load " + k.Entry)
	begin := time.Now()
	defer func() {
		c.CompileTime = time.Since(begin)
		r.out.Times.Compile += c.CompileTime
	}()
	var reasons []string
	if len(k.Cubin) > 0 {
		reason = cubinFits(k.Capability, r.dev.Info().Capability)
		if reason == "" {
			if reason = r.loadImage(i, k.Cubin); reason == "" {
				return "", nil
			}
		}
		reasons = append(reasons, "cubin: "+reason)
	}
	if len(k.PTX) > 0 {
		reason = ptxFits(k.PTX, r.dev.Info().Capability)
		if reason == "" {
			if reason = r.loadImage(i, k.PTX); reason == "" {
				return "", nil
			}
		}
		reasons = append(reasons, "PTX: "+reason)
	}
	return strings.Join(reasons, "; "), nil
}

func (r *rerun) loadImage(i int, image []byte) (reason string) {
	m, err := r.dev.Load(image, r.lines)
	if err != nil {
		return err.Error()
	}
	f, err := r.dev.Function(m, r.plan.Kernels[i].Entry, r.plan.Kernels[i].Shared)
	if err != nil {
		return errors.Join(err, r.dev.Unload(m)).Error()
	}
	r.images[i], r.kernels[i] = m, f
	return ""
}

// cubinFits says why a cubin does not run on a card: one runs on the same major
// version with the same or a later minor one. 0: not known, the driver will tell.
func cubinFits(code, card int) string {
	if code == 0 || code/10 == card/10 && code%10 <= card%10 {
		return ""
	}
	return fmt.Sprintf("it is for compute capability %d.%d, the card has %d.%d", code/10, code%10, card/10, card%10)
}

// ptxFits says why PTX does not run on a card, by its .target (PTX ISA 11.1.2):
// sm_90a runs on 9.0 only, sm_100f on the 10.x family, sm_90 on 9.0 and later.
func ptxFits(ptx []byte, card int) string {
	target := ptxTarget(ptx)
	digits := strings.TrimRight(strings.TrimPrefix(target, "sm_"), "af")
	code, err := strconv.Atoi(digits)
	if target == "" || err != nil {
		return "" // the driver's compiler will tell
	}
	switch {
	case strings.HasSuffix(target, "a") && code == card:
		return ""
	case strings.HasSuffix(target, "f") && code/10 == card/10 && code <= card:
		return ""
	case target == "sm_"+digits && code <= card:
		return ""
	}
	return fmt.Sprintf("it is for %s, the card is sm_%d", target, card)
}

// ptxTarget is the first word after .target, "" where there is none.
func ptxTarget(ptx []byte) string {
	for line := range bytes.Lines(ptx) {
		fields := strings.FieldsFunc(string(line), func(r rune) bool { return r == ' ' || r == '\t' || r == ',' || r == '\n' || r == '\r' })
		if len(fields) >= 2 && fields[0] == ".target" {
			return fields[1]
		}
	}
	return ""
}
