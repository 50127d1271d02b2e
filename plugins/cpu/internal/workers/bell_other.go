//go:build !linux

package workers

// bell wakes sleeping workers.
type bell struct{ goroutineBell }

// leaveThreads does nothing: sleepers always leave their threads to others here.
func (b *bell) leaveThreads() {}
