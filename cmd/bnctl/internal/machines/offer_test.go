package machines

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/device/machine"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/tensor"
	"github.com/bnctl/bnctl/train"
)

// served is a machine in a test. It serves the devices of this process.
type served struct {
	address string
	keys    string
	stop    context.CancelFunc
	ended   chan error

	mu    sync.Mutex
	notes []string
}

// start serves devices at an address. "127.0.0.1:0" means any free port.
func start(t *testing.T, address, keys, devices string) *served {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	m := &served{keys: keys, stop: stop, ended: make(chan error, 1)}
	at := make(chan string, 1)
	out := Output{
		Result: func(format string, args ...any) {
			if first, _, _ := strings.Cut(fmt.Sprintf(format, args...), " "); len(at) == 0 {
				address, _, _ := strings.Cut(strings.TrimPrefix(first, "tls://"), "/")
				at <- address
			}
		},
		Event: func(string, any) {},
		Note: func(format string, args ...any) {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.notes = append(m.notes, fmt.Sprintf(format, args...))
		},
	}
	go func() {
		m.ended <- offer(ctx, address, filepath.Join(keys, "device"), fleet.Options{Devices: devices}, out)
	}()
	select {
	case m.address = <-at:
	case err := <-m.ended:
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return m
}

// end ends the machine like a signal.
func (m *served) end(t *testing.T) {
	t.Helper()
	m.stop()
	if err := <-m.ended; err != nil {
		t.Error(err)
	}
}

func newKeys(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	if _, err := machine.MakeKeys(folder, 1); err != nil {
		t.Fatal(err)
	}
	return folder
}

// host returns options with which a host uses devices of machines that have these keys.
func host(keys, devices string) fleet.Options {
	return fleet.Options{Devices: devices, Plugins: fleet.Plugins{TLS: filepath.Join(keys, "host")}}
}

// trained trains a small network on devices, and returns its state.
func trained(t *testing.T, o fleet.Options, onEpoch func(epoch int)) map[string]tensor.Tensor {
	t.Helper()
	r := recipe.Default("mlp-bn")
	r.Epochs, r.Batch, r.Replicas, r.Seed = 4, 16, 4, 3
	return trainOn(t, o, "glyphs:32", r, train.Config{Events: func(e train.Event) {
		if e, ok := e.(train.EpochDone); ok && onEpoch != nil {
			onEpoch(e.Epoch)
		}
	}})
}

// trainOn trains mlp-bn by a recipe on devices, and returns its state. It sets the data and the devices in c.
func trainOn(t *testing.T, o fleet.Options, samples string, r *recipe.Recipe,
	c train.Config) map[string]tensor.Tensor {
	t.Helper()
	ctx := t.Context()
	src, err := data.Open(ctx, samples, data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	started, err := modelfile.Start("mlp-bn", src.Info(), modelfile.StartOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r.SetModel(started.Model)
	if err := r.SetData(ctx, src, nil); err != nil {
		t.Fatal(err)
	}
	f, err := fleet.Open(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c.Train, c.Fleet = src, f
	s, err := train.New(ctx, r, started.Model, c)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	template, err := s.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return template.State
}

func equal(t *testing.T, what string, got, want map[string]tensor.Tensor) {
	t.Helper()
	for name, w := range want {
		if !slices.Equal(got[name].Bytes, w.Bytes) {
			t.Errorf("%s: tensor %s differs", what, name)
		}
	}
}

// A run makes the same template with devices in this process, on another machine, on two machines, and on a
// machine that ends in the middle of the run, with or without coming back.
func TestOneTemplateOnMachines(t *testing.T) {
	want := trained(t, fleet.Options{Devices: "ref"}, nil)
	keys := newKeys(t)
	a, b := start(t, "127.0.0.1:0", keys, "2xref"), start(t, "127.0.0.1:0", keys, "ref")
	equal(t, "one machine", trained(t, host(keys, "tls://"+a.address+"/*"), nil), want)
	both := host(keys, "ref,tls://"+a.address+"/*,tls://"+b.address+"/*")
	equal(t, "two machines and this one", trained(t, both, nil), want)
	equal(t, "a machine that ends and returns", trained(t, both, func(epoch int) {
		switch epoch {
		case 1:
			b.end(t)
		case 3:
			b = start(t, b.address, keys, "ref")
		}
	}), want)
}

// used waits until a host uses the device ref of a machine.
func (m *served) used(t *testing.T) {
	t.Helper()
	for range 600 {
		f, err := fleet.Open(t.Context(), host(m.keys, "tls://"+m.address+"/ref"))
		if err == nil {
			err = f.Close()
		} else if strings.Contains(err.Error(), "the device is in use") {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("nobody uses the device")
}

// A run with only devices of other machines makes the same template if a second machine joins and the first
// one ends.
func TestOneTemplateWithMachinesThatJoin(t *testing.T) {
	want := trained(t, fleet.Options{Devices: "ref"}, nil)
	keys := newKeys(t)
	a, b := start(t, "127.0.0.1:0", keys, "ref"), start(t, "127.0.0.1:0", keys, "ref")
	path := filepath.Join(t.TempDir(), "machines")
	name := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	name("# machines\n127.0.0.1:1 # nobody there\n" + a.address + "\n")
	o := host(keys, "none")
	o.Machines = func(context.Context) ([]string, error) { return readAddresses(path) }
	var mu sync.Mutex
	var notes []string
	o.Note = func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		notes = append(notes, fmt.Sprintf(format, args...))
	}
	got := trained(t, o, func(epoch int) {
		switch epoch {
		case 1:
			name(a.address + "\n" + b.address + "\n")
			b.used(t)
		case 2:
			name(b.address)
			a.end(t)
		}
	})
	equal(t, "a machine that joins and one that leaves", got, want)
	mu.Lock()
	defer mu.Unlock()
	if all := strings.Join(notes, "\n"); strings.Count(all, "127.0.0.1:1 does not take part: ") != 1 {
		t.Errorf("notes: %s", all)
	}
}

// If there are more devices than Options.Most, the other devices wait to join.
func TestSpareDevicesWait(t *testing.T) {
	keys := newKeys(t)
	m := start(t, "127.0.0.1:0", keys, "2xref")
	o := host(keys, "none")
	o.Most = 1
	o.Machines = func(context.Context) ([]string, error) { return []string{m.address}, nil }
	f, err := fleet.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	spare := <-f.Joins()
	defer spare.Device.Close()
	if len(f.Members) != 1 || f.Members[0].Name != m.address+"/ref:0" || spare.Name != m.address+"/ref:1" {
		t.Errorf("members %v, and %s joins", f.Members, spare.Name)
	}
}

// The error about a file of addresses names the line.
func TestReadAddresses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "machines")
	for _, c := range []struct{ text, want string }{
		{"", "[]"},
		{"\n# none\n  \n", "[]"},
		{" 10.0.0.7:7443 # the first\nnode-2:7443\n[fe80::1]:1\n10.0.0.7:7443", "[10.0.0.7:7443 node-2:7443 [fe80::1]:1]"},
		{"10.0.0.7:7443\n10.0.0.8", path + ":2"},
		{"10.0.0.7:0", path + ":1"},
		{":7443", path + ":1"},
		{"tls://10.0.0.7:7443/*", path + ":1"},
	} {
		if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := readAddresses(path)
		if text := fmt.Sprint(got); text != c.want && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q: %s, %v, want %s", c.text, text, err, c.want)
		}
	}
	if _, err := readAddresses(path + "gone"); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("no file: %v", err)
	}
}

// names is a name server that always gives the same answer.
type names struct {
	found []string
	err   error
}

func (n names) LookupHost(context.Context, string) ([]string, error) { return n.found, n.err }

// A name represents the machines at all of its addresses. If it has no addresses, there are no machines. If
// the name server does not answer, this is an error.
func TestLookUp(t *testing.T) {
	for _, c := range []struct {
		text, want string
		of         names
	}{
		{"dns:devices", "[10.0.0.7:7443 10.0.0.8:7443] <nil>", names{found: []string{"10.0.0.8", "10.0.0.7"}}},
		{"dns:devices:9", "[[fe80::1]:9] <nil>", names{found: []string{"fe80::1"}}},
		{"dns:devices", "[] <nil>", names{err: &net.DNSError{IsNotFound: true}}},
		{"dns:devices", "[] discover devices: server misbehaving", names{err: &net.DNSError{Err: "server misbehaving"}}},
		{"devices:9", `discover "devices:9"`, names{}},
		{"dns:", `discover "dns:"`, names{}},
		{"dns:a:b", `discover "dns:a:b"`, names{}},
	} {
		host, port, err := parseDiscover(c.text)
		if err != nil {
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v", c.text, err)
			}
			continue
		}
		found, err := lookUp(t.Context(), c.of, host, port)
		if got := fmt.Sprint(found, err); got != c.want {
			t.Errorf("%s: %s, want %s", c.text, got, c.want)
		}
	}
}

// Only one host at a time can use a device. When it has closed the device, another host can.
func TestOneHostAtATime(t *testing.T) {
	keys := newKeys(t)
	m := start(t, "127.0.0.1:0", keys, "2xref")
	first, err := fleet.Open(t.Context(), host(keys, "tls://"+m.address+"/ref:1"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fleet.Open(t.Context(), host(keys, "tls://"+m.address+"/ref:1")); err == nil ||
		!strings.Contains(err.Error(), "the device is in use") {
		t.Errorf("a second host: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	for range 200 { // the machine needs some time to notice the end of the connection
		var again *fleet.Fleet
		if again, err = fleet.Open(t.Context(), host(keys, "tls://"+m.address+"/ref:1")); err == nil {
			again.Close()
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("the device stays in use: %v", err)
}

// A host without a certificate of the authority is refused, with an error on both sides.
func TestStrangers(t *testing.T) {
	keys, others := newKeys(t), newKeys(t)
	m := start(t, "127.0.0.1:0", keys, "ref")
	name := "tls://" + m.address + "/*"
	for what, c := range map[string]struct {
		options fleet.Options
		want    string
	}{
		"another authority": {host(others, name), "the machine is not trusted: its certificate is not of an authority"},
		"no certificate":    {fleet.Options{Devices: name}, "a host needs a certificate"},
		"an unknown device": {host(keys, "tls://"+m.address+"/cuda:0"), "the machine offers ref"},
		"no address":        {host(keys, "tls://machine/*"), "want the address of a machine"},
		"nobody there":      {host(keys, "tls://127.0.0.1:1/*"), "nothing answers there"},
	} {
		if _, err := fleet.Open(t.Context(), c.options); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", what, err, c.want)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.notes) == 0 || !strings.Contains(m.notes[0], "is refused") {
		t.Errorf("the machine notes %q", m.notes)
	}
}

// Many connections of strangers cause only a few notes.
func TestNotesOfStrangersAreFew(t *testing.T) {
	var notes []string
	s := newSeldom(func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) })
	for range 1000 {
		s.note("refused")
	}
	if len(notes) != notesAtOnce+1 {
		t.Errorf("%d notes, want %d", len(notes), notesAtOnce+1)
	}
}
