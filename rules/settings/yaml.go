package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"aliascheck/hlo"
	"aliascheck/rules"

	"go.yaml.in/yaml/v3"
)

// maxYAML bounds a configuration or baseline file.
const maxYAML = 16 << 20

// yamlFile reads our YAML files field by field, so that every complaint names the
// file and the line and says what was expected. It goes on after an error: a user
// sees all of them at once.
type yamlFile struct {
	name string
	errs []error
}

// parseYAML returns the document's top mapping; nil for an empty file.
func (y *yamlFile) parse(data []byte) *yaml.Node {
	if len(data) > maxYAML {
		y.errs = append(y.errs, fmt.Errorf("%s: larger than %s", y.name, rules.Bytes(maxYAML)))
		return nil
	}
	var doc yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(&doc); err != nil {
		if !errors.Is(err, io.EOF) {
			y.errs = append(y.errs, fmt.Errorf("%s: %w", y.name, err))
		}
		return nil
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		y.errs = append(y.errs, fmt.Errorf("%s: one YAML document was expected", y.name))
	}
	if len(doc.Content) == 0 {
		return nil
	}
	return doc.Content[0]
}

func (y *yamlFile) fail(n *yaml.Node, format string, args ...any) {
	y.errs = append(y.errs, fmt.Errorf("%s:%d: %s", y.name, n.Line, fmt.Sprintf(format, args...)))
}

// fields calls set for every key of a mapping; set reports false for a key that it
// does not know. A key that stands twice is an error.
func (y *yamlFile) fields(n *yaml.Node, known string, set func(key string, v *yaml.Node) bool) {
	if n.Kind != yaml.MappingNode {
		y.fail(n, "a mapping with the keys %s was expected", known)
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		switch {
		case k.Kind != yaml.ScalarNode:
			y.fail(k, "one of the keys %s was expected", known)
		case seen[k.Value]:
			y.fail(k, "the key %q stands here twice", k.Value)
		case !set(k.Value, v):
			y.fail(k, "unknown key %q; one of %s was expected", k.Value, known)
		}
		seen[k.Value] = true
	}
}

// each calls item for every entry of a list.
func (y *yamlFile) each(n *yaml.Node, what string, item func(*yaml.Node)) {
	if n.Kind != yaml.SequenceNode {
		y.fail(n, "a list of %s was expected", what)
		return
	}
	for _, c := range n.Content {
		item(c)
	}
}

func (y *yamlFile) text(n *yaml.Node, to *string) {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" || n.Value == "" {
		y.fail(n, "a text was expected")
		return
	}
	*to = n.Value
}

func (y *yamlFile) texts(n *yaml.Node, what string, to *[]string) {
	y.each(n, what, func(c *yaml.Node) {
		var s string
		y.text(c, &s)
		*to = append(*to, s)
	})
}

func (y *yamlFile) number(n *yaml.Node, to *int) {
	v, err := strconv.Atoi(n.Value)
	if n.Kind != yaml.ScalarNode || err != nil || v < 0 {
		y.fail(n, "a number from 0 was expected, not %q", n.Value)
		return
	}
	*to = v
}

func (y *yamlFile) date(n *yaml.Node, to *time.Time) {
	t, err := time.Parse(time.DateOnly, n.Value)
	if n.Kind != yaml.ScalarNode || err != nil {
		y.fail(n, "a date like 2026-12-31 was expected, not %q", n.Value)
		return
	}
	*to = t
}

// version checks the number that a file begins with.
func (y *yamlFile) version(n *yaml.Node) {
	if n.Kind != yaml.ScalarNode || n.Value != "1" {
		y.fail(n, "version 1 was expected, not %q", n.Value)
	}
}

func readBounded(path string) ([]byte, error) {
	f, _, err := hlo.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxYAML+1))
}
