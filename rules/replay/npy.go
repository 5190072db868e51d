package replay

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"strconv"
	"strings"

	"aliascheck/alias"
	"aliascheck/hlo"
)

// OperandFile is a --operand flag: CALL:N=FILE.npy. The file holds operand N of
// the call, for every call whose instruction, or module.instruction, fits.
type OperandFile struct {
	Call    string // a name, in which * stands for any text
	Operand int    // leaf number
	Path    string
	Data    []byte // elements as they stand in memory, little endian
}

// maxOperandFile bounds a file that is read, in bytes.
const maxOperandFile = 4 << 30

// ParseOperandFile reads a --operand flag and the file that it names.
func ParseOperandFile(flag string) (OperandFile, error) {
	left, path, ok := strings.Cut(flag, "=")
	colon := strings.LastIndexByte(left, ':')
	if !ok || colon < 1 || path == "" {
		return OperandFile{}, fmt.Errorf("--operand %q: CALL:N=FILE.npy was expected", flag)
	}
	n, err := strconv.Atoi(left[colon+1:])
	if err != nil || n < 0 {
		return OperandFile{}, fmt.Errorf("--operand %q: %q is no operand number", flag, left[colon+1:])
	}
	in, size, err := hlo.OpenRegular(path)
	if err != nil {
		return OperandFile{}, fmt.Errorf("--operand: %w", err)
	}
	defer in.Close()
	if size > maxOperandFile {
		return OperandFile{}, fmt.Errorf("--operand: %s: a regular file of at most %s was expected", path, Bytes(maxOperandFile))
	}
	data, err := io.ReadAll(io.LimitReader(in, maxOperandFile))
	if err != nil {
		return OperandFile{}, fmt.Errorf("--operand: %w", err)
	}
	elements, err := npyElements(data)
	if err != nil {
		return OperandFile{}, fmt.Errorf("--operand: %s: %w", path, err)
	}
	return OperandFile{Call: left[:colon], Operand: n, Path: path, Data: elements}, nil
}

// fits reports whether the file is for operand leaf n of c.
func (f *OperandFile) fits(c *alias.Call, n int) bool {
	if f.Operand != n {
		return false
	}
	name := c.Module.Instructions[c.Instruction].Name
	return Matches(f.Call, name) || Matches(f.Call, c.Module.Name+"."+name)
}

// FromFiles finds operands in files. The last flag that fits wins.
func FromFiles(files []OperandFile) OperandLookup {
	return func(c *alias.Call, operand int) ([]byte, Recipe) {
		for i := len(files) - 1; i >= 0; i-- {
			if files[i].fits(c, operand) {
				return files[i].Data, Recipe{Kind: FileInput, Source: files[i].Path}
			}
		}
		return nil, Recipe{}
	}
}

// npyElements gives the elements of a NumPy array file: those of an array in C
// order, little endian. The format is numpy.lib.format's, versions 1 to 3.
func npyElements(data []byte) ([]byte, error) {
	const magic = "\x93NUMPY"
	if !bytes.HasPrefix(data, []byte(magic)) || len(data) < len(magic)+4 {
		return nil, fmt.Errorf("no .npy file")
	}
	at, header := len(magic)+2, 0
	switch version := data[len(magic)]; version {
	case 1:
		header = int(binary.LittleEndian.Uint16(data[at:]))
		at += 2
	case 2, 3:
		if len(data) < at+4 {
			return nil, fmt.Errorf("cut in its header")
		}
		header = int(binary.LittleEndian.Uint32(data[at:]))
		at += 4
	default:
		return nil, fmt.Errorf(".npy version %d is not read", version)
	}
	if header > len(data)-at {
		return nil, fmt.Errorf("cut in its header")
	}
	text := string(data[at : at+header])
	kind, ok := npyField(text, "descr")
	if !ok || len(kind) < 3 || !strings.ContainsAny(kind[1:2], "<|=") {
		return nil, fmt.Errorf("elements of %s are not read: little-endian numbers were expected", kind)
	}
	if order, _ := npyField(text, "fortran_order"); order != "False" {
		return nil, fmt.Errorf("the array is in Fortran order: save it with order='C'")
	}
	return data[at+header:], nil
}

// npyField gives the text of a field of the header, a Python dictionary.
func npyField(header, name string) (string, bool) {
	_, rest, ok := strings.Cut(header, "'"+name+"':")
	if !ok {
		return "", false
	}
	rest = strings.TrimSpace(rest)
	end := strings.IndexAny(rest, ",}")
	if end < 0 {
		return rest, false
	}
	return rest[:end], true
}
