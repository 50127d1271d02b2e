package machines

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/device/machine"
	"github.com/bnctl/bnctl/device/serve"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/train"
)

// liars offers devices, each of which is replaced by a device with a fault.
type liars struct {
	*fleet.Offer
	lie func(device.Device) device.Device
}

func (l liars) Open(ctx context.Context, id string, o device.Options) (device.Device, error) {
	d, err := l.Offer.Open(ctx, id, o)
	if err != nil {
		return nil, err
	}
	return l.lie(d), nil
}

// startLiars serves two devices with a fault, and returns their address. The machine has a valid certificate.
func startLiars(t *testing.T, keys string, lie func(device.Device) device.Device) (address string) {
	t.Helper()
	side, err := machine.Open(filepath.Join(keys, "device"), machine.Device)
	if err != nil {
		t.Fatal(err)
	}
	offer, err := fleet.NewOffer(t.Context(), fleet.Options{Devices: "2xref"})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := serve.NewApart(liars{offer, lie}, serve.ApartOptions{Credentials: side.Credentials(nil),
		Check: side.Check, MaxBytes: 1 << 30})
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Close()
		<-ended
		if err := offer.Close(); err != nil {
			t.Error(err)
		}
	})
	return listener.Addr().String()
}

// wrongResults is a device that flips the last bit of the first result in each run.
type wrongResults struct{ device.Device }

func (d wrongResults) Load(ctx context.Context, p *graph.Program, c device.Capacity) (
	device.Executable, error) {
	x, err := d.Device.Load(ctx, p, c)
	return wrongExecutable{x}, err
}

type wrongExecutable struct{ device.Executable }

func (x wrongExecutable) Run(ctx context.Context, s device.Step) (device.Outcome, error) {
	out, err := x.Executable.Run(ctx, s)
	if err == nil && len(out.Outputs) > 0 && len(out.Outputs[0].Bytes) > 0 {
		out.Outputs[0] = out.Outputs[0].Clone()
		out.Outputs[0].Bytes[0] ^= 1
	}
	return out, err
}

// If a machine computes other bits than its kernel class defines, this is found when a host connects to it.
// If the user names the machine, it is refused with an error. If a run finds it in a list of machines, it
// does not join the run.
func TestWrongBitsAreFoundAtTheHandshake(t *testing.T) {
	keys := newKeys(t)
	address := startLiars(t, keys, func(d device.Device) device.Device { return wrongResults{d} })
	const want = "it has other bits for vector "
	_, err := fleet.Open(t.Context(), host(keys, "ref,tls://"+address+"/*"))
	if err == nil || !strings.Contains(err.Error(), address) || !strings.Contains(err.Error(), want) {
		t.Errorf("a machine that is named: %v, want %q", err, want)
	}
	o := host(keys, "ref")
	var mu sync.Mutex
	var notes []string
	noted := make(chan struct{}, 100)
	o.Machines = func(context.Context) ([]string, error) { return []string{address}, nil }
	o.Note = func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		notes = append(notes, fmt.Sprintf(format, args...))
		noted <- struct{}{}
	}
	f, err := fleet.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	<-noted
	mu.Lock()
	defer mu.Unlock()
	if len(f.Members) != 1 || !strings.Contains(notes[0], address+" does not take part: ") ||
		!strings.Contains(notes[0], want) {
		t.Errorf("%d devices, want the host's; notes %q", len(f.Members), notes)
	}
}

// failing is a device where every run fails.
type failing struct{ device.Device }

func (d failing) Load(ctx context.Context, p *graph.Program, c device.Capacity) (device.Executable, error) {
	x, err := d.Device.Load(ctx, p, c)
	return failingExecutable{x}, err
}

type failingExecutable struct{ device.Executable }

func (failingExecutable) Run(context.Context, device.Step) (device.Outcome, error) {
	return device.Outcome{}, device.Errorf("", "Run", device.OutOfMemory, "no memory today")
}

// If a machine fails to run a golden vector, it is not refused for wrong bits. The error has the reason, and
// the host may try the machine again.
func TestAMachineThatFailsIsNotWrong(t *testing.T) {
	keys := newKeys(t)
	address := startLiars(t, keys, func(d device.Device) device.Device { return failing{d} })
	_, err := fleet.Open(t.Context(), host(keys, "ref,tls://"+address+"/*"))
	if err == nil || errors.Is(err, parallel.Withdrawn) || !errors.Is(err, device.OutOfMemory) ||
		!strings.Contains(err.Error(), "no memory today") || strings.Contains(err.Error(), "other bits") {
		t.Errorf("%v, want the reason, not withdrawn", err)
	}
}

// wrongGradients is a device that makes about half of the gradients of a tensor wrong.
type wrongGradients struct{ device.Device }

func (d wrongGradients) Join(ctx context.Context, g device.Group) error {
	if g.Exchange != nil {
		g.Exchange = wrongSums{g.Exchange}
	}
	return d.Device.Join(ctx, g)
}

type wrongSums struct{ collective.Exchanger }

func (x wrongSums) Start(ctx context.Context, tag collective.Tag,
	values []collective.Reduction) func() error {
	if p := values[len(values)-1].Partials; tag.Lane == collective.Gradients && len(p) > 0 {
		for i := 2; i < len(p[0].Value.Bytes); i += 4 {
			p[0].Value.Bytes[i] ^= 0x40
		}
	}
	return x.Exchanger.Start(ctx, tag, values)
}

// A machine that sends wrong gradients passes the handshake. An audit finds it before the step is committed,
// and the run without it has the template of an honest one. Without an audit the template is another one.
func TestAuditFindsMachinesThatLie(t *testing.T) {
	r := recipe.Default("mlp-bn")
	r.Epochs, r.Batch, r.Replicas, r.Seed = 1, 16, 4, 3
	want := trainOn(t, fleet.Options{Devices: "ref"}, "glyphs:32", r, train.Config{})
	keys := newKeys(t)
	address := startLiars(t, keys, func(d device.Device) device.Device { return wrongGradients{d} })
	o := host(keys, "ref,tls://"+address+"/*")
	var lost []string
	got := trainOn(t, o, "glyphs:32", r, train.Config{Audit: 1, Events: func(e train.Event) {
		if e, ok := e.(train.DeviceLost); ok {
			lost = append(lost, e.Reason)
		}
	}})
	equal(t, "with an audit", got, want)
	if sentence := "machine " + address + " gives other bits for replica "; len(lost) != 2 ||
		!strings.Contains(lost[0], sentence) || !strings.Contains(lost[1], sentence) {
		t.Errorf("lost are %q, want both devices of the machine", lost)
	}
	for name, other := range trainOn(t, o, "glyphs:32", r, train.Config{}) {
		if !slices.Equal(other.Bytes, want[name].Bytes) {
			return
		}
	}
	t.Error("the lie changes nothing")
}
