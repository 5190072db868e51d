// Package settings reads the files that people write for an audit: the configuration
// and the baseline. Its errors name file and line, and say what was expected.
package settings

import (
	"errors"

	"aliascheck/rules"

	"go.yaml.in/yaml/v3"
)

// LoadConfig reads a configuration. Its errors name file and line, and what was
// expected.
func LoadConfig(path string) (*rules.Config, error) {
	data, err := readBounded(path)
	if err != nil {
		return nil, err
	}
	return ParseConfig(path, data)
}

// ParseConfig is LoadConfig of a file's contents.
func ParseConfig(name string, data []byte) (*rules.Config, error) {
	y := &yamlFile{name: name}
	var c rules.Config
	if top := y.parse(data); top != nil {
		y.fields(top, "version, library-code, library-targets, kernels, suppress, programs, select, ignore, severity, replay", func(key string, v *yaml.Node) bool {
			switch key {
			case "version":
				y.version(v)
			case "library-code":
				y.texts(v, "path parts", &c.LibraryCode)
			case "library-targets":
				y.texts(v, "target patterns", &c.LibraryTargets)
			case "kernels":
				y.each(v, "kernels", func(n *yaml.Node) { c.Kernels = append(c.Kernels, y.kernel(n)) })
			case "select":
				y.rules(v, &c.Selection.Select)
			case "ignore":
				y.rules(v, &c.Selection.Ignore)
			case "severity":
				y.severities(v, &c.Selection.Severities)
			case "suppress":
				y.each(v, "suppressions", func(n *yaml.Node) { c.Suppressions = append(c.Suppressions, y.suppression(n)) })
			case "replay":
				y.fields(v, "imports", func(key string, v *yaml.Node) bool {
					if key == "imports" {
						y.texts(v, "Python modules", &c.ReplayImports)
					}
					return key == "imports"
				})
			case "programs":
				y.each(v, "programs", func(n *yaml.Node) { c.Programs = append(c.Programs, y.program(n)) })
			default:
				return false
			}
			return true
		})
	}
	if err := errors.Join(y.errs...); err != nil {
		return nil, err
	}
	return &c, nil
}

// rules reads a list of words that choose rules.
func (y *yamlFile) rules(n *yaml.Node, to *[]string) {
	y.each(n, "codes", func(c *yaml.Node) {
		var word string
		y.text(c, &word)
		if word == "" {
			return
		}
		if err := rules.CheckRules(word); err != nil {
			y.fail(c, "%v", err)
		}
		*to = append(*to, word)
	})
}

// severities reads a mapping of rules to severities.
func (y *yamlFile) severities(n *yaml.Node, to *[]rules.RuleSeverity) {
	y.fields(n, "codes and names of rules", func(key string, v *yaml.Node) bool {
		if rules.CheckRules(key) != nil {
			return false
		}
		var word string
		y.text(v, &word)
		s := rules.Severity(word)
		if !s.AtLeast(rules.Note) {
			y.fail(v, "error, warning or note was expected; the key ignore turns a rule off")
			return true
		}
		*to = append(*to, rules.RuleSeverity{Rules: key, Severity: s})
		return true
	})
}

func (y *yamlFile) kernel(n *yaml.Node) rules.KnownKernel {
	k := rules.KnownKernel{Reason: "the configuration lists it as not safe in place"}
	y.fields(n, "name, unsafe, reason", func(key string, v *yaml.Node) bool {
		switch key {
		case "name":
			y.text(v, &k.Name)
		case "reason":
			y.text(v, &k.Reason)
		case "unsafe":
			y.each(v, "pairs", func(n *yaml.Node) { k.Unsafe = append(k.Unsafe, y.pair(n)) })
		default:
			return false
		}
		return true
	})
	if k.Name == "" || len(k.Unsafe) == 0 {
		y.fail(n, "a kernel needs a name and a list of unsafe pairs, like {operand: 0, result: 0}")
	}
	return k
}

func (y *yamlFile) pair(n *yaml.Node) rules.KnownPair {
	p := rules.KnownPair{Operand: -1, Result: -1}
	y.fields(n, "operand, result", func(key string, v *yaml.Node) bool {
		switch key {
		case "operand":
			y.number(v, &p.Operand)
		case "result":
			y.number(v, &p.Result)
		default:
			return false
		}
		return true
	})
	if p.Operand < 0 || p.Result < 0 {
		y.fail(n, "a pair needs an operand and a result, counted from 0")
	}
	return p
}
