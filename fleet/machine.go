package fleet

import (
	"context"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/machine"
	"github.com/bnctl/bnctl/device/remote"
	"github.com/bnctl/bnctl/problem"
)

// machinePrefix begins the names of devices on other machines: tls://HOST:PORT/cuda:0, and
// tls://HOST:PORT/* for all of a machine.
const machinePrefix = "tls://"

// onMachine reports whether a name of Options.Devices names a machine, or a device there.
func onMachine(name string) bool { return strings.HasPrefix(name, machinePrefix) }

// parseMachine reads the name of devices on a machine. The spec has the machine as its plugin.
func parseMachine(text string) (spec, error) {
	address, id, _ := strings.Cut(strings.TrimPrefix(text, machinePrefix), "/")
	host, port, err := net.SplitHostPort(address)
	if n, e := strconv.Atoi(port); err != nil || e != nil || host == "" || n < 1 || n > 65535 {
		return spec{}, problem.New("devices", strconv.Quote(text), "want the address of a machine and its device",
			"write for example tls://10.0.0.7:7443/cuda:0, or /* for all of its devices")
	}
	if id == "" {
		id = "*"
	}
	return spec{count: 1, name: machinePrefix + address, index: id}, nil
}

// pickOnMachine returns the devices of a machine that a spec names.
func pickOnMachine(s spec, list []device.Info) (targets []target, err error) {
	address := strings.TrimPrefix(s.name, machinePrefix)
	for _, d := range list {
		if s.index == "*" || s.index == d.ID {
			targets = append(targets, target{plugin: s.name, id: d.ID, name: address + "/" + d.ID, info: d})
		}
	}
	if len(targets) > 0 {
		return targets, nil
	}
	var known []string
	for _, d := range list {
		known = append(known, d.ID)
	}
	return nil, problem.New("devices", s.name+"/"+s.index, "the machine offers "+strings.Join(known, ", "), "")
}

// isCPU reports whether a device is a processor, here or on another machine.
func (t target) isCPU() bool {
	return t.plugin == "cpu" || onMachine(t.plugin) && (t.id == "cpu" || strings.HasPrefix(t.id, "cpu:"))
}

// connect returns the devices of a machine.
func (p Plugins) connect(ctx context.Context, name string) (Provider, error) {
	if p.TLS == "" {
		return nil, problem.New("devices", name, "a host needs a certificate for the devices of other machines",
			"name its folder with {devices-tls}; {devices-keys} makes it")
	}
	if p.Levels != nil && !slices.Contains(p.Levels, device.Stream) {
		return nil, problem.New("devices", name, "devices of other machines need the level "+device.Stream, "")
	}
	side, err := machine.Open(p.TLS, machine.Host)
	if err != nil {
		return nil, err
	}
	address := strings.TrimPrefix(name, machinePrefix)
	c := p.adorn(remote.Command{Name: address, Greeting: remote.GreetingOf(address), TLS: side.Config()})
	return remote.Start(ctx, c)
}
