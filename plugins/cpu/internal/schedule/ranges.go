package schedule

// Work is divided in two ways: run.Frame.Each runs tasks once each, and RangeOf divides the elements that
// tasks compute. Together they cover every element once. Tests put faults into both, and every fault has to
// change a result (package cpu, TestDivisionMutants).

// RangeOf divides n elements into ranges and returns range i. The sizes of ranges differ by at most one.
func RangeOf(i, ranges, n int) (from, to int) {
	from, to = n*i/ranges, n*(i+1)/ranges
	if RangeFault != nil {
		return RangeFault(i, ranges, n, from, to)
	}
	return from, to
}

// Span divides n elements into ranges of whole cache lines, and returns range i.
func Span(i, ranges, n int) (from, to int) {
	const line = 16
	lines := (n + line - 1) / line
	first, last := RangeOf(i, ranges, lines)
	return min(first*line, n), min(last*line, n)
}

// RangeFault, if it is set, replaces the ranges of RangeOf. Only tests set it, while no frame runs.
var RangeFault func(i, ranges, n, from, to int) (int, int)
