package hlo

import (
	"math"

	"aliascheck/hlo/transcode"
)

// Limits bounds what a dump may cost. Zero means the default.
type Limits struct {
	// FileBytes is the most bytes of a file that are kept in memory; literals over
	// LiteralBytes do not count, they are left in the file. Default 256 MiB.
	FileBytes int64
	// ModelBytes is about the most bytes that the model of a module may take: a few
	// bytes of a hostile file stand for a hundred of it. Default 1 GiB.
	ModelBytes int64
	// LiteralBytes is the size in bytes over which a literal is left in the file.
	// Default 1 MiB.
	LiteralBytes int64
	// Depth is the most that calls of computations may nest. Default 100.
	Depth int
	// ArchiveBytes is the most bytes that an archive may inflate to. Default 8 GiB.
	ArchiveBytes int64
	// ArchiveMembers is the most members of an archive. Default 200,000.
	ArchiveMembers int
	// Entries is the most files and folders that are looked at. Default 1,000,000.
	Entries int
}

// orDefault fills in the defaults.
func (l Limits) orDefault() Limits {
	set(&l.FileBytes, 256<<20)
	set(&l.ModelBytes, 1<<30)
	l.FileBytes = min(l.FileBytes, math.MaxInt32-chunk) // spans are 32 bits
	set(&l.LiteralBytes, 1<<20)
	set(&l.Depth, 100)
	set(&l.ArchiveBytes, 8<<30)
	set(&l.ArchiveMembers, 200_000)
	set(&l.Entries, 1_000_000)
	return l
}

// ofText are the limits of a text pair.
func (l Limits) ofText() transcode.Limits {
	return transcode.Limits{
		Bytes:        l.FileBytes,
		Instructions: int(l.ModelBytes / instructionBytes),
		Computations: int(l.ModelBytes / computationBytes),
	}
}

// set gives v a value where it has none.
func set[T int | int64](v *T, value T) {
	if *v <= 0 {
		*v = value
	}
}
