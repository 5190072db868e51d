package settings

import (
	"fmt"
	"strings"

	"aliascheck/rules"

	"go.yaml.in/yaml/v3"
)

func (y *yamlFile) suppression(n *yaml.Node) rules.Suppression {
	s := rules.Suppression{Where: fmt.Sprintf("%s:%d", y.name, n.Line), Operand: -1}
	y.fields(n, "code, target, kernel, operand, result, value, source, reason, expires", func(key string, v *yaml.Node) bool {
		switch key {
		case "code":
			y.text(v, &s.Code)
			if _, ok := rules.Lookup(s.Code); s.Code != "" && !ok {
				y.fail(v, "%v", rules.UnknownRule(s.Code))
			}
		case "target":
			y.text(v, &s.Target)
		case "kernel":
			y.text(v, &s.Kernel)
		case "operand":
			y.number(v, &s.Operand)
		case "result":
			y.text(v, &s.Result)
			if s.Result != "" && !strings.HasPrefix(s.Result, "{") {
				y.fail(v, "a shape index in quotes, like \"{1}\", was expected, not %q", s.Result)
			}
		case "value":
			y.text(v, &s.Value)
		case "source":
			y.text(v, &s.Source)
		case "reason":
			y.text(v, &s.Reason)
		case "expires":
			y.date(v, &s.Expires)
		default:
			return false
		}
		return true
	})
	if s.Code == "" || s.Reason == "" {
		y.fail(n, "a suppression needs a code and a reason")
	}
	if s.Target == "" && s.Kernel == "" && s.Value == "" && s.Source == "" {
		y.fail(n, "a suppression needs a scope: a target, a kernel, a value or a source")
	}
	return s
}
