package audit

import (
	"fmt"
	"hash/fnv"
	"path/filepath"
	"strconv"
	"strings"
)

// shard is part of an audit that several machines share: number 1 to of.
// The zero value is all of it.
type shard struct{ number, of int }

// maxShards is far more machines than anybody has.
const maxShards = 1 << 16

// parseShard reads the value of --shard, I/N.
func parseShard(text string) (shard, error) {
	if text == "" {
		return shard{}, nil
	}
	i, n, _ := strings.Cut(text, "/")
	number, err := strconv.Atoi(i)
	of, err2 := strconv.Atoi(n)
	if err != nil || err2 != nil || of < 1 || of > maxShards || number < 1 || number > of {
		return shard{}, fmt.Errorf("--shard %q: I/N was expected, with I from 1 to N", text)
	}
	return shard{number, of}, nil
}

// has reports whether the shard audits a module. That depends on the module's path
// below the dump that the user named and on nothing else, so that every module has
// one shard, on whatever machine. What is wrong with a whole dump concerns all.
func (s shard) has(path string, dumps []string) bool {
	if s.of <= 1 {
		return true
	}
	rest, found := "", false
	for _, dump := range dumps {
		if path == dump {
			return true
		}
		below, ok := strings.CutPrefix(path, filepath.Clean(dump))
		if ok && (!found || len(below) < len(rest)) {
			rest, found = below, true
		}
	}
	if !found {
		rest = path
	}
	h := fnv.New64a()
	h.Write([]byte(filepath.ToSlash(strings.TrimLeft(rest, `/\!`))))
	return h.Sum64()%uint64(s.of) == uint64(s.number-1)
}
