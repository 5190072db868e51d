package ptx

import (
	"math/bits"

	"aliascheck/rules/ptx/syntax"
)

func lowerShuffle(l *lowerer, in *syntax.Instruction) error {
	if len(in.Words) != 4 || in.Words[1] != "sync" || in.Words[3] != "b32" || len(in.Operands) != 5 {
		return l.fail("unknown form")
	}
	mode := in.Words[2]
	var src []int32
	for _, op := range in.Operands[1:4] {
		s, err := l.source(op, "b32")
		if err != nil {
			return err
		}
		src = append(src, s)
	}
	if _, err := l.laneSync(in.Operands[4]); err != nil {
		return err
	}
	dsts, err := l.pairDest(in.Operands[0], 32)
	if err != nil {
		return err
	}
	l.lanesOp(dsts, func(c *code, x []*value, w int, lanes uint32, set func(k, lane int, v uint64)) {
		n := uint64(0)
		for rest := lanes; rest != 0; rest &= rest - 1 {
			lane := bits.TrailingZeros32(rest)
			t := w*32 + lane
			j, ok := shuffleSource(mode, uint32(lane), uint32(x[1].at(t, ^n)), uint32(x[2].at(t, ^n)))
			if lanes>>j&1 == 0 { // a lane that is not there: what it gives is undefined
				j = uint32(lane)
			}
			set(0, lane, x[0].at(w*32+int(j), 0xffffffff))
			if len(c.dsts) == 2 {
				set(1, lane, b2u(ok))
			}
		}
	}, src...)
	return nil
}

// shuffleSource gives the lane that a shuffle reads (PTX ISA, shfl.sync).
func shuffleSource(mode string, lane, b, c uint32) (uint32, bool) {
	b &= 31
	seg := c >> 8 & 31
	clamp := c & 31
	top := lane&seg | clamp&^seg
	j, ok := lane, false
	switch mode {
	case "up":
		j = lane - b
		ok = int32(j) >= int32(top)
	case "down":
		j = lane + b
		ok = j <= top
	case "bfly":
		j = lane ^ b
		ok = j <= top
	default:
		j = lane&seg | b&^seg
		ok = j <= top
	}
	if !ok {
		return lane, false
	}
	return j & 31, true
}

// among lowers d, a, mask: a value of each lane, and the lanes that give theirs.
func (l *lowerer) among(in *syntax.Instruction, typ string) (a, mask int32, err error) {
	if a, err = l.source(in.Operands[1], typ); err != nil {
		return a, 0, err
	}
	mask, err = l.laneSync(in.Operands[2])
	return a, mask, err
}

func lowerVote(l *lowerer, in *syntax.Instruction) error {
	if len(in.Words) != 4 || in.Words[1] != "sync" || len(in.Operands) != 3 {
		return l.fail("unknown form")
	}
	a, mask, err := l.among(in, "pred")
	if err != nil {
		return err
	}
	mode := in.Words[2]
	width := uint8(1)
	if mode == "ballot" {
		width = 32
	}
	d, err := l.dest(in.Operands[0], width)
	if err != nil {
		return err
	}
	l.lanesOp([]int32{d}, func(_ *code, x []*value, w int, lanes uint32, set func(k, lane int, v uint64)) {
		ballot := uint32(0)
		for rest := lanes; rest != 0; rest &= rest - 1 {
			lane := bits.TrailingZeros32(rest)
			ballot |= uint32(x[0].at(w*32+lane, 1)) << lane
		}
		for rest := lanes; rest != 0; rest &= rest - 1 {
			lane := bits.TrailingZeros32(rest)
			members := uint32(x[1].at(w*32+lane, ^uint64(0))) & lanes
			v := ballot & members
			r := uint64(v)
			switch mode {
			case "all":
				r = b2u(v == members)
			case "any":
				r = b2u(v != 0)
			case "uni":
				r = b2u(v == members || v == 0)
			}
			set(0, lane, r)
		}
	}, a, mask)
	return nil
}

func lowerMatch(l *lowerer, in *syntax.Instruction) error {
	if len(in.Words) != 4 || len(in.Operands) != 3 {
		return l.fail("unknown form")
	}
	all := in.Words[1] == "all"
	a, mask, err := l.among(in, in.Words[3])
	if err != nil {
		return err
	}
	dsts, err := l.pairDest(in.Operands[0], 32)
	if err != nil {
		return err
	}
	l.lanesOp(dsts, func(c *code, x []*value, w int, lanes uint32, set func(k, lane int, v uint64)) {
		for rest := lanes; rest != 0; rest &= rest - 1 {
			lane := bits.TrailingZeros32(rest)
			members := uint32(x[1].at(w*32+lane, ^uint64(0))) & lanes
			mine := x[0].at(w*32+lane, ^uint64(0))
			same := uint32(0)
			for o := members; o != 0; o &= o - 1 {
				j := bits.TrailingZeros32(o)
				if x[0].at(w*32+j, ^uint64(0)) == mine {
					same |= 1 << j
				}
			}
			ok := same == members
			if all && !ok {
				same = 0
			}
			set(0, lane, uint64(same))
			if len(c.dsts) == 2 {
				set(1, lane, b2u(ok))
			}
		}
	}, a, mask)
	return nil
}

func lowerActiveMask(l *lowerer, in *syntax.Instruction) error {
	if len(in.Operands) != 1 {
		return l.fail("1 operand expected")
	}
	d, err := l.dest(in.Operands[0], 32)
	if err != nil {
		return err
	}
	l.lanesOp([]int32{d}, func(_ *code, _ []*value, _ int, lanes uint32, set func(k, lane int, v uint64)) {
		for rest := lanes; rest != 0; rest &= rest - 1 {
			set(0, bits.TrailingZeros32(rest), uint64(lanes))
		}
	})
	return nil
}

func lowerRedux(l *lowerer, in *syntax.Instruction) error {
	n := len(in.Words)
	if n < 4 || in.Words[1] != "sync" || len(in.Operands) != 3 {
		return l.fail("unknown form")
	}
	how, typ := in.Words[2], in.Words[n-1]
	pick := updater(how, typ)
	if pick == nil || typ == "f32" && n > 4 {
		return l.fail("unknown operation")
	}
	a, mask, err := l.among(in, typ)
	if err != nil {
		return err
	}
	d, err := l.dest(in.Operands[0], 32)
	if err != nil {
		return err
	}
	l.lanesOp([]int32{d}, func(_ *code, x []*value, w int, lanes uint32, set func(k, lane int, v uint64)) {
		for rest := lanes; rest != 0; rest &= rest - 1 {
			lane := bits.TrailingZeros32(rest)
			members := uint32(x[1].at(w*32+lane, ^uint64(0))) & lanes
			r, first := uint64(0), true
			for o := members; o != 0; o &= o - 1 {
				v := x[0].at(w*32+bits.TrailingZeros32(o), 0xffffffff)
				if first {
					r, first = v, false
				} else {
					r = pick(r, v, 0)
				}
			}
			set(0, lane, r)
		}
	}, a, mask)
	return nil
}

// lowerElect chooses the lowest lane of the mask.
func lowerElect(l *lowerer, in *syntax.Instruction) error {
	if len(in.Operands) != 2 {
		return l.fail("2 operands expected")
	}
	mask, err := l.laneSync(in.Operands[1])
	if err != nil {
		return err
	}
	dsts, err := l.pairDest(in.Operands[0], 32)
	if err != nil {
		return err
	}
	l.lanesOp(dsts, func(c *code, x []*value, w int, lanes uint32, set func(k, lane int, v uint64)) {
		for rest := lanes; rest != 0; rest &= rest - 1 {
			lane := bits.TrailingZeros32(rest)
			members := uint32(x[0].at(w*32+lane, ^uint64(0))) & lanes
			leader := bits.TrailingZeros32(members)
			set(0, lane, uint64(leader))
			if len(c.dsts) == 2 {
				set(1, lane, b2u(lane == leader))
			}
		}
	}, mask)
	return nil
}
