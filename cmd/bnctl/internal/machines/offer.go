package machines

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/bnctl/bnctl/device/machine"
	"github.com/bnctl/bnctl/device/serve"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/internal/memory"
	"github.com/bnctl/bnctl/problem"
)

// lastCalls is the time that calls in progress have to finish after a signal has ended the machine.
const lastCalls = 6 * time.Second

// offer offers devices at an address until ctx ends.
func offer(ctx context.Context, address, folder string, o fleet.Options, out Output) (err error) {
	if folder == "" {
		return problem.New("tls", "", "devices are offered with a certificate only",
			"name the folder with {tls}; {devices-keys} makes it")
	}
	side, err := machine.Open(folder, machine.Device)
	if err != nil {
		return err
	}
	devices, err := fleet.NewOffer(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, devices.Close()) }()
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return problem.New("listen", address, err.Error(), "").Because(err)
	}
	server := newServer(devices, side, out)
	announce(ctx, listener.Addr(), devices, out)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	last, stop := context.WithTimeout(context.WithoutCancel(ctx), lastCalls)
	defer stop()
	server.Leave(last)
	return nil
}

// newServer returns the server for the offered devices. It writes notes about hosts that use a device, and
// about hosts that are refused.
func newServer(devices *fleet.Offer, side *machine.Side, out Output) *serve.Apart {
	refused := newSeldom(out.Note)
	return serve.NewApart(devices, serve.ApartOptions{
		Credentials: side.Credentials(func(host string, why error) {
			refused.note(fmt.Sprintf("%s is refused: %v", host, why))
		}),
		Check:    side.Check,
		MaxBytes: largestMessage(),
	})
}

// largestMessage returns the maximum size of a message from a host: half of the free memory.
func largestMessage() int64 {
	_, available := memory.Machine()
	return available / 2
}

// announce prints the address of the devices.
func announce(ctx context.Context, addr net.Addr, offered *fleet.Offer, out Output) {
	devices, _, _ := offered.List(ctx)
	var names []string
	for _, d := range devices {
		names = append(names, d.ID)
		out.Result("tls://%s/%s  %s", addr, d.ID, d.Description)
	}
	out.Event("devices", struct {
		Address string   `json:"address"`
		Devices []string `json:"devices"`
	}{addr.String(), names})
}
