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
)

// process is a plugin process, in the form in which go-plugin runs one. Its
// standard input is a pipe that never carries anything: its end means that the
// host is gone.
type process struct {
	cmd     *exec.Cmd
	file    *os.File // that is executed; nil of an attachment
	stdin   *os.File
	stdout  *os.File
	stderr  *os.File
	child   []*os.File // the child's ends of the pipes
	family  string     // a variable of its environment; "" where that cannot be looked for
	greeted *greeting
	output  *output

	*attachment // to a process that runs already; nil: it is a child

	mu         sync.Mutex
	begun      bool          // there is a process to be killed
	aborted    bool          // it is to be killed, or never to be started
	signalled  bool          // this program has sent it a signal
	exited     chan struct{} // closed after Wait
	reaped     chan struct{} // closed when what it left is killed too
	state      string        // how it exited; valid then
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

// pipes makes the pipes of the standard files, of which child has the other ends.
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

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// Start starts the process.
func (p *process) Start(context.Context) error {
	started := make(chan error, 1)
	go p.live(started)
	return <-started
}

// live starts the process and waits for its end on one thread: the kernel
// kills the child when the thread that started it is gone.
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
	end() // nobody waits for the rest to learn of a death
	if p.family != "" {
		endFamily(p.family)
	}
}

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

// Kill ends the process. One that has just died by itself is not struck.
func (p *process) Kill(context.Context) error {
	p.within(exitTimeout)
	p.kill()
	<-p.reaped
	p.closeOutput()
	return nil
}

// kill sends SIGKILL, to all of its process group where there are such. A
// process that has not started never will.
func (p *process) kill() {
	p.mu.Lock()
	p.aborted = true
	p.mu.Unlock()
	p.signal(os.Kill)
}

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

// killedByOther reports whether the process has ended by a signal that was not this
// program's.
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

// end asks the process to end, then tells it, then makes it: first its
// standard input ends, a second later SIGTERM comes, then SIGKILL.
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

// abandon gives a process up that was never started, and reports whether it was.
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

// closeOutput stops listening: a grandchild may hold the pipes open for ever.
// Before, it gives what the process wrote last a moment to arrive.
func (p *process) closeOutput() {
	p.outputOnce.Do(func() {
		p.awaitOutput()
		closeAll([]*os.File{p.stdin, p.stdout, p.stderr})
		p.output.close()
	})
}

// awaitOutput waits a moment until all that the process wrote has been read.
func (p *process) awaitOutput() {
	closesWithin(p.output.end, 200*time.Millisecond)
}

// closesWithin reports whether what is closed within d.
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

// howItEnded says how the process ended, with its last words.
func (p *process) howItEnded() string {
	p.awaitOutput()
	if last := p.output.last(); last != "" {
		return fmt.Sprintf("%s; its last words: %s", p.state, last)
	}
	return p.state + " without a word"
}

// Stdout is what go-plugin reads the handshake from.
func (p *process) Stdout() io.ReadCloser { return p.greeted.tee(p.stdout) }

// Stderr is what the plugin logs.
func (p *process) Stderr() io.ReadCloser { return p.output.tee(p.stderr) }

// Name is the path of the executable.
func (p *process) Name() string { return p.cmd.Path }

// ID is the number of the process.
func (p *process) ID() string { return fmt.Sprint(p.number()) }

// number is the ID of the process; 0 if that is somebody else's.
func (p *process) number() int {
	if p.cmd.Process == nil {
		return 0
	}
	return p.cmd.Process.Pid
}

// Diagnose has nothing to add: this package writes its own errors.
func (p *process) Diagnose(context.Context) string { return "" }

// PluginToHost and HostToPlugin leave addresses as they are: both sides live
// in one place.
func (p *process) PluginToHost(network, address string) (string, string, error) {
	return network, address, nil
}

// HostToPlugin is the inverse of PluginToHost.
func (p *process) HostToPlugin(network, address string) (string, string, error) {
	return network, address, nil
}

var _ runner.Runner = (*process)(nil)
