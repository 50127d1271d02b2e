package remote_test

import (
	"context"
	"fmt"
	"log"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/remote"
)

// This example lists the installed plugins and the devices of each. Only plugins in
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

// This example runs a device in a separate process. If that process dies, calls return an
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
