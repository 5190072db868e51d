package rules

import "go.yaml.in/yaml/v3"

// Program is one of the programs that `aliascheck compile` compiles where the command
// line names none.
type Program struct {
	What     string   // a function of a module or file, or a file of a program
	Name     string   // the function's where it is empty
	Args     *string  // shapes; nil: the function lists programs
	Sharding []string // axes of each argument, as after the @ of a shape; "-" for none
	Donate   []int    // arguments, from 0
	Static   []int    // arguments, from 0
	Mesh     string
	Targets  []string // GPUs; none: those of the command line
}

func (y *yamlFile) program(n *yaml.Node) Program {
	var p Program
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
