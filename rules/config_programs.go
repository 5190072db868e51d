package rules

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
