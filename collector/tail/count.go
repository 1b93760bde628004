package tail

// countStep counts lines of a chunk. It returns how many bytes it had.
func (f *file) countStep() int {
	if f.wait > 0 || !f.look() {
		f.counting = f.wait > 0 || f.failed != "" // an empty file has nothing to be counted
		return 1 << 20
	}
	if f.target == 0 {
		f.target = f.size
	}
	raw := f.read(giantSize)
	if over := f.offset + int64(len(raw)) - f.target; over > 0 {
		raw = raw[:int64(len(raw))-over]
	}
	whole := f.dec.Whole(raw)
	if whole == 0 && len(raw) == giantSize {
		whole = f.dec.Part(raw)
	}
	if whole == 0 {
		f.counting = false
		f.counted, f.kept = f.line, f.line
		return len(raw)
	}
	f.line += len(f.dec.Ends(nil, raw[:whole]))
	f.offset += int64(whole)
	f.last = append(f.last[:0], raw[max(0, whole-lastBytes):whole]...)
	f.settled = position{Offset: f.offset, Line: f.line}
	return len(raw)
}
