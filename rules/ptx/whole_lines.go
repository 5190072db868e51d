package ptx

// A row is whole lines that neighbouring threads touch one after the other, in an
// access that has no pattern as a whole: a row of a table at a place that was
// looked up. It becomes an event of its own, which takes a word of each line, so
// that lines which many rows meet on, by whichever worker, are told of by pairs of
// events and not by chains.

// pieceShift is where a range's thread has the bytes of each thread, as 1 + a power
// of two; 0: one thread touches all of it.
const pieceShift = 16

// threadAt gives the thread that touches a byte of a range, by its offset from the first.
func (st *stored) threadAt(off int64) int {
	if st.thread < 1<<pieceShift {
		return int(st.thread)
	}
	return int(st.thread&(1<<pieceShift-1)) + int(off>>(st.thread>>pieceShift-1))
}

// alike says that two ranges have the same thread for each byte, where byte i of
// b's buffer is byte i+delta of a's.
func (st *stored) alike(b *stored, delta int64) bool {
	how := st.thread >> pieceShift
	if how <= 0 {
		return st.thread == b.thread
	}
	return how == b.thread>>pieceShift && int64(st.thread-b.thread)<<(how-1) == st.base-b.base-delta
}

// wholeLines gives the ends of the whole lines of a run, and whether there are any.
func (run *threadRun) wholeLines(size int64) (from, to int64, ok bool) {
	from, to = (run.off+63)&^63, (run.off+int64(run.n)*size)&^63
	return from, to, run.n > 1 && from < to
}

// putWholeLines records a run that has whole lines: these as an event, and what is left
// at its ends by threads.
func (r *recorder) putWholeLines(t *shadow, x *scatter, run threadRun, from, to int64) {
	if n := (from - run.off) / x.size; n > 0 {
		r.put(t, x.e, x.id, x.size, &threadRun{run.off, run.thread, int16(n)})
	}
	first, end := int64(run.thread)+(from-run.off)/x.size, run.off+int64(run.n)*x.size
	r.addWholeLines(t, x, first, from, to)
	if n := (end - to) / x.size; n > 0 {
		r.put(t, x.e, x.id, x.size, &threadRun{to, int16(first + (to-from)/x.size), int16(n)})
	}
}

func (r *recorder) addWholeLines(t *shadow, x *scatter, first, from, to int64) {
	id, st, ok := r.events.alloc()
	if !ok {
		r.m.stop("the record of accesses is full")
		return
	}
	*st = *x.e.stored
	st.base, st.size, st.thread = from, uint32(to-from), int32(first)|int32(log2(x.size)+1)<<pieceShift
	e := event{st, x.e.circumstances}
	e.setWhole()
	r.took, r.was = false, 0
	r.run(t, e, id, from>>6, to>>6, ^uint64(0))
	if !r.took {
		r.events.next--
	}
}
