package settings

import (
	"errors"

	"aliascheck/rules"

	"go.yaml.in/yaml/v3"
)

// LoadBaseline reads a baseline file. Its errors name file and line.
func LoadBaseline(path string) (*rules.Baseline, error) {
	data, err := readBounded(path)
	if err != nil {
		return nil, err
	}
	return ParseBaseline(path, data)
}

// ParseBaseline is LoadBaseline of a file's contents.
func ParseBaseline(name string, data []byte) (*rules.Baseline, error) {
	y := &yamlFile{name: name}
	b := &rules.Baseline{Name: name}
	if top := y.parse(data); top != nil {
		y.fields(top, "version, findings", func(key string, v *yaml.Node) bool {
			switch key {
			case "version":
				y.version(v)
			case "findings":
				y.each(v, "findings", func(n *yaml.Node) { b.Entries = append(b.Entries, y.entry(n)) })
			default:
				return false
			}
			return true
		})
	}
	if err := errors.Join(y.errs...); err != nil {
		return nil, err
	}
	return b, nil
}

func (y *yamlFile) entry(n *yaml.Node) rules.BaselineEntry {
	e := rules.BaselineEntry{Line: n.Line}
	y.fields(n, "fingerprint, code, target, kernel, source", func(key string, v *yaml.Node) bool {
		to := map[string]*string{
			"fingerprint": &e.Fingerprint, "code": &e.Code, "target": &e.Target, "kernel": &e.Kernel, "source": &e.Source,
		}[key]
		if to == nil {
			return false
		}
		y.text(v, to)
		return true
	})
	if e.Fingerprint == "" {
		y.fail(n, "a finding needs its fingerprint")
	}
	return e
}
