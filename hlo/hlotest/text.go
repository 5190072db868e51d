package hlotest

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// moveInText moves the value's line below another allocation's heading.
func (d *Dump) moveInText(value, allocation, offset, size int64) error {
	lines := strings.SplitAfter(d.Assignment, "\n")
	slice := regexp.MustCompile(`\(size=\d+,offset=\d+\)`)
	var moved string
	var rest []string
	for _, line := range lines {
		if moved == "" && strings.HasPrefix(line, fmt.Sprintf(" value: <%d ", value)) {
			moved = slice.ReplaceAllString(line, fmt.Sprintf("(size=%d,offset=%d)", size, offset))
			continue
		}
		rest = append(rest, line)
	}
	heading := fmt.Sprintf("allocation %d: size ", allocation)
	for i, line := range rest {
		number, tail, ok := strings.Cut(strings.TrimPrefix(line, heading), ",")
		if moved == "" || !ok || !strings.HasPrefix(line, heading) {
			continue
		}
		old, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return err
		}
		rest[i] = fmt.Sprintf("%s%d,%s%s", heading, max(old, offset+size), tail, moved)
		d.Assignment = strings.Join(rest, "")
		return nil
	}
	return fmt.Errorf("%s: the text has no value %d or no allocation %d", d.Name, value, allocation)
}

// redeclareInText changes the operand numbers of one instruction's aliasing.
func (d *Dump) redeclareInText(name string, operand int64) error {
	aliasing := regexp.MustCompile(`output_to_operand_aliasing=\{.*?\)\}`)
	number := regexp.MustCompile(`\(\d+, `)
	lines := strings.SplitAfter(d.Text, "\n")
	for i, line := range lines {
		at := strings.TrimPrefix(strings.TrimSpace(line), "ROOT ")
		if !strings.HasPrefix(at, "%"+name+" = ") || !aliasing.MatchString(line) {
			continue
		}
		lines[i] = aliasing.ReplaceAllStringFunc(line, func(s string) string {
			return number.ReplaceAllLiteralString(s, fmt.Sprintf("(%d, ", operand))
		})
		d.Text = strings.Join(lines, "")
		return nil
	}
	return fmt.Errorf("%s: the text has no declaring instruction %s", d.Name, name)
}
