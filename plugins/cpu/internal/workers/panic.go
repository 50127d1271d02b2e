package workers

import (
	"fmt"
	"runtime/debug"
)

// Panic is the value of a panic in a task. It is raised again in the goroutine that called
// Each, because a panic in a helper would end the program.
type Panic struct {
	Value any    // value of the original panic
	Stack []byte // stack of the worker
}

// Error returns the original value and the stack of the worker.
func (p *Panic) Error() string { return fmt.Sprintf("%v\n\n%s", p.Value, p.Stack) }

// Unwrap returns the original value if it is an error.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// run runs a task, and stores its panic for Each.
func (p *Pool) run(w *Worker, task int) {
	defer func() {
		if v := recover(); v != nil {
			p.fault.CompareAndSwap(nil, &Panic{v, debug.Stack()})
		}
	}()
	p.do(w, task)
}
