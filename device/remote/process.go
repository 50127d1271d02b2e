package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-plugin/runner"

	"github.com/bnctl/bnctl/internal/awake"
	"github.com/bnctl/bnctl/internal/memory"
)

// process is a plugin process, with the methods that go-plugin needs to run it. Its
// standard input is a pipe without data. The end of the pipe means that the host
// is gone.
//
// # Descriptors
//
//	host                                    plugin
//	stdin   (never written) ──────────────> 0   ends when the host ends, for any reason
//	greeted <────────────────────────────── 1   the line of the handshake, and later output
//	output  <────────────────────────────── 2   the log; its last lines explain a death
//	                                        3   the executable (Linux): the file that is run
//	segment ══════════════════════════════> 4   the shared memory of the session
//	bell    <────────────────────────────── 5   the pipe that wakes the host
//	                                        6   a connection to the launcher, of a fabric plugin
//
// # States
//
//	               begin                        Wait
//	newProcess ───────────> begun ─────────────────────> exited ──> reaped
//	    │                     │  kill, end: signals          (what it has started is killed too)
//	    │ kill, end           │
//	    └──> aborted: it never starts
//
// exited is closed as soon as the process has ended, and ends calls that wait for an answer. reaped
// is closed a little later, when the processes that the plugin has started are gone too. Closing a
// device waits for reaped.
//
// A process that another program has started (attachment) has the same states, but it is never
// signalled. It is only released, and continues to run.
type process struct {
	cmd     *exec.Cmd
	file    *os.File // file to be executed; nil for an attachment
	stdin   *os.File
	stdout  *os.File
	stderr  *os.File
	child   []*os.File // the child's ends of the pipes
	family  string     // variable that marks its family; "" if the system cannot search for it
	greeted *greeting
	output  *output

	*attachment // a process that was already running; nil: it is a child

	mu         sync.Mutex
	begun      bool          // the process has been started and can be killed
	aborted    bool          // the process must be killed, or must not be started
	signalled  bool          // this program has sent the process a signal
	exited     chan struct{} // closed after Wait
	reaped     chan struct{} // closed when the processes that it has started are killed too
	state      string        // how it ended; valid when exited is closed
	starved    bool          // the system killed the process for lack of memory; valid when exited is closed
	killed     int64         // memory.Killed before the start
	outputOnce sync.Once
}

// newProcess prepares a process. files are inherited from descriptor 3 on.
func newProcess(b *binary, args, env []string, w, printed *output, files ...*os.File) (*process, error) {
	p := &process{file: b.file, exited: make(chan struct{}), reaped: make(chan struct{}), output: w,
		greeted: &greeting{printed: printed}}
	if err := p.pipes(); err != nil {
		return nil, err
	}
	p.family = newFamily()
	if p.family != "" {
		env = append(env, p.family)
	}
	p.cmd = &exec.Cmd{
		Path: b.path, Args: append([]string{b.path}, args...), Env: env,
		Stdin: p.child[0], Stdout: p.child[1], Stderr: p.child[2], ExtraFiles: files,
	}
	isolate(p.cmd, b)
	return p, nil
}

// pipes creates the pipes of the standard files. child has the other ends.
func (p *process) pipes() error {
	pipes := make([]*os.File, 0, 6)
	for range 3 {
		r, wr, err := os.Pipe()
		if err != nil {
			closeAll(pipes)
			return err
		}
		pipes = append(pipes, r, wr)
	}
	p.stdin, p.stdout, p.stderr = pipes[1], pipes[2], pipes[4]
	p.child = []*os.File{pipes[0], pipes[3], pipes[5]}
	return nil
}

// closeAll closes files. It ignores errors, because the caller cannot act on them.
func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// Start starts the process. The goroutine that starts it lives as long as the process. Kill and end
// wait for it with reaped.
func (p *process) Start(context.Context) error {
	started := make(chan error, 1)
	go p.live(started)
	return <-started
}

// live starts the process and waits for its end on the same thread, because the kernel kills the child
// when the thread that started it ends (PR_SET_PDEATHSIG refers to threads). A goroutine that is locked
// to its thread keeps the thread as long as it runs.
func (p *process) live(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(p.reaped)
	end := sync.OnceFunc(func() { close(p.exited) })
	defer end()
	err := p.begin()
	closeAll(p.child)
	started <- err
	if err != nil {
		p.state = err.Error()
		p.closeOutput()
		return
	}
	if p.attachment != nil {
		<-p.released
		p.state = "let go"
		return
	}
	_ = p.cmd.Wait()
	p.state = strings.TrimSpace(p.cmd.ProcessState.String())
	p.starved = p.endedForMemory() || p.output.ranOutOfMemory()
	end() // now, so that waiters need not wait for the steps below
	if p.family != "" {
		endFamily(p.family)
	}
}

// begin starts the process, unless it was aborted. After an error there is no process.
func (p *process) begin() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.aborted {
		return errors.New("ended before it was started")
	}
	var err error
	if p.attachment != nil {
		_, err = fmt.Fprintln(p.child[1], p.greeting)
	} else {
		p.killed = memory.Killed()
		err = p.cmd.Start()
		if err != nil {
			err = whyNot(err, p.file)
		}
	}
	p.begun = err == nil
	return err
}

// Wait returns when the process has ended.
func (p *process) Wait(context.Context) error {
	<-p.exited
	return nil
}

// Kill ends the process; go-plugin calls it. A process that is already dying gets no
// signal, so that its real end is reported.
func (p *process) Kill(context.Context) error {
	p.within(exitTimeout)
	p.kill()
	<-p.reaped
	p.closeOutput()
	return nil
}

// kill sends SIGKILL to the process group, where the system has process groups, or to the
// process. It also prevents the start of a process that has not started.
func (p *process) kill() {
	p.mu.Lock()
	p.aborted = true
	p.mu.Unlock()
	p.signal(os.Kill)
}

// signal sends a signal to the process and its group while it runs, and records this. If the process is
// ended by another signal, another program has sent it.
func (p *process) signal(s os.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.attachment != nil {
		p.release()
		return
	}
	select {
	case <-p.exited:
	default:
		if p.begun {
			p.signalled = true
			signalAll(p.cmd.Process, s)
		}
	}
}

// killedByOther reports whether the process was ended by a signal that this program did not send.
func (p *process) killedByOther() bool {
	select {
	case <-p.exited:
	default:
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.signalled && p.begun && p.attachment == nil && endedBySignal(p.cmd.ProcessState)
}

// endedForMemory reports whether the system has probably killed the process for lack of memory. This is so
// if the process was killed, but not by this program, and the system has killed some process for lack of
// memory since this one was started.
func (p *process) endedForMemory() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.signalled && p.attachment == nil && killed(p.cmd.ProcessState) && p.killed >= 0 &&
		memory.Killed() > p.killed
}

// end ends the process in three steps, a second apart: it closes the standard input, sends
// SIGTERM, and sends SIGKILL. It returns when the process and all processes that it has started
// are gone. docs/plugins.md promises these steps to authors of plugins. The first is enough for
// a plugin that uses the SDK.
func (p *process) end() {
	if p.abandon() {
		return
	}
	p.stdin.Close()
	if p.attachment != nil || !p.within(time.Second) {
		p.signal(terminate)
	}
	if !p.within(time.Second) {
		p.kill()
	}
	<-p.reaped
	p.closeOutput()
}

// abandon gives up a process that has never been started. It returns false if the process was started.
func (p *process) abandon() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.aborted = true
	select {
	case <-p.exited:
		return false
	default:
	}
	if !p.begun {
		closeAll(append(p.child, p.stdin, p.stdout, p.stderr))
	}
	return !p.begun
}

// within reports whether the process ends within d.
func (p *process) within(d time.Duration) bool {
	return closesWithin(p.exited, d)
}

// closeOutput closes the pipes on this side, because a process that the plugin has started may never
// close the other ends. Before that it waits a moment for the last output of the process. Only the first
// call has an effect.
func (p *process) closeOutput() {
	p.outputOnce.Do(func() {
		p.awaitOutput()
		closeAll([]*os.File{p.stdin, p.stdout, p.stderr})
		p.output.close()
	})
}

// awaitOutput waits a moment until all output of the process has been read.
func (p *process) awaitOutput() {
	closesWithin(p.output.end, 200*time.Millisecond)
}

// closesWithin reports whether the channel is closed within d.
func closesWithin(what <-chan struct{}, d time.Duration) bool {
	ctx, stop := awake.WithTimeout(context.Background(), d)
	defer stop()
	select {
	case <-what:
		return true
	case <-ctx.Done():
		return false
	}
}

// howItEnded describes how the process ended, with its last words.
func (p *process) howItEnded() string {
	p.awaitOutput()
	if last := p.output.last(); last != "" {
		return fmt.Sprintf("%s; its last words: %s", p.state, last)
	}
	return p.state + " without a word"
}

// Stdout returns the reader of the handshake for go-plugin.
func (p *process) Stdout() io.ReadCloser { return p.greeted.tee(p.stdout) }

// Stderr returns the plugin's log.
func (p *process) Stderr() io.ReadCloser { return p.output.tee(p.stderr) }

// Name returns the path of the executable.
func (p *process) Name() string { return p.cmd.Path }

// ID returns the number of the process.
func (p *process) ID() string { return fmt.Sprint(p.number()) }

// number returns the ID of the process, or 0 for a process that another program started.
func (p *process) number() int {
	if p.cmd.Process == nil {
		return 0
	}
	return p.cmd.Process.Pid
}

// Diagnose adds nothing: this package writes its error messages itself.
func (p *process) Diagnose(context.Context) string { return "" }

// PluginToHost and HostToPlugin return addresses unchanged, because both sides use the
// same file system.
func (p *process) PluginToHost(network, address string) (string, string, error) {
	return network, address, nil
}

// HostToPlugin is the inverse of PluginToHost.
func (p *process) HostToPlugin(network, address string) (string, string, error) {
	return network, address, nil
}

var _ runner.Runner = (*process)(nil)
