package remote_test

import (
	"context"
	"fmt"
	"log"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/remote"
)

// The plugins that are installed, and the devices of each. Only those of
// devices.lock are started.
func ExampleFind() {
	ctx := context.Background()
	found, err := remote.Find(remote.Folders()...)
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range found {
		command, err := f.Command(false)
		if err != nil {
			log.Fatal(err)
		}
		p, err := remote.Start(ctx, command)
		if err != nil {
			log.Fatal(err)
		}
		devices, why, err := p.List(ctx)
		fmt.Println(f.Name, len(devices), why, err)
		p.Close()
	}
}

// A device in a process of its own. When that process dies, calls end with an
// error of kind device.Lost.
func ExampleStart() {
	ctx := context.Background()
	p, err := remote.Start(ctx, remote.Command{Name: "cuda", Path: "/usr/lib/bnctl/bnctl-device-cuda"})
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	d, err := p.Open(ctx, "0", device.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	fmt.Println(d.Info().Name)
}
