package settings

import (
	"aliascheck/rules"

	"go.yaml.in/yaml/v3"
)

func (y *yamlFile) program(n *yaml.Node) rules.Program {
	var p rules.Program
	y.fields(n, "function, file, name, args, sharding, donate, static, mesh, targets", func(key string, v *yaml.Node) bool {
		switch key {
		case "function", "file":
			y.text(v, &p.What)
		case "name":
			y.text(v, &p.Name)
		case "args":
			p.Args = new(string)
			if v.Value != "" {
				y.text(v, p.Args)
			}
		case "sharding":
			y.texts(v, "axes, like \"x,-\"", &p.Sharding)
		case "donate":
			y.numbers(v, &p.Donate)
		case "static":
			y.numbers(v, &p.Static)
		case "mesh":
			y.text(v, &p.Mesh)
		case "targets":
			y.texts(v, "GPUs", &p.Targets)
		default:
			return false
		}
		return true
	})
	if p.What == "" {
		y.fail(n, "a program needs a function, like kernels.py:scale, or a file")
	}
	return p
}

// numbers reads a list of numbers, or one.
func (y *yamlFile) numbers(n *yaml.Node, to *[]int) {
	one := func(c *yaml.Node) {
		var v int
		y.number(c, &v)
		*to = append(*to, v)
	}
	if n.Kind == yaml.ScalarNode {
		one(n)
		return
	}
	y.each(n, "numbers", one)
}
