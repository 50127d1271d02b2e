package machines

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/problem"
)

// Flags are the flags of a command that uses devices of other machines.
func Flags() []cli.Flag {
	return []cli.Flag{&cli.StringFlag{Name: "devices-tls", EnvVars: []string{"BNCTL_DEVICES_TLS"},
		Usage: "`DIR` with the certificate of this host for devices of other machines"}}
}

// Keys returns the folder with the certificate of this host, or "" if the flag for it is not given.
func Keys(c *cli.Context) string { return c.String("devices-tls") }

// JoinFlags are the flags of a run that other machines may join and leave.
func JoinFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "devices-file",
			Usage: "`FILE` with a line HOST:PORT for each machine; those that are added join the run"},
		&cli.StringFlag{Name: "discover",
			Usage: "dns:`NAME:PORT`: the machines that the name has, asked again and again"},
	}
}

// Named reports whether the flags name other machines to use.
func Named(c *cli.Context) bool {
	return c.IsSet("devices-file") || c.IsSet("discover") || strings.Contains(c.String("devices"), "tls://")
}

// Join sets in o the machines that the flags name. It is an error to use these machines with stages.
func Join(c *cli.Context, o *fleet.Options) error {
	file, name := c.String("devices-file"), c.String("discover")
	switch {
	case file == "" && name == "":
		return nil
	case file != "" && name != "":
		return problem.New("discover", name, "the machines are named by a file already",
			"use {devices-file} or {discover}")
	case o.Plugins.TLS == "":
		return problem.New("devices-tls", "", "a host needs a certificate for the devices of other machines",
			"name its folder with {devices-tls}; {devices-keys} makes it")
	case c.IsSet("stages") && c.String("stages") != "1":
		return problem.New("stages", c.String("stages"), "a machine that joins has all layers",
			"leave {stages} out, or name the machines in {devices}")
	}
	if file != "" {
		o.Machines = func(context.Context) ([]string, error) { return readAddresses(file) }
		_, err := readAddresses(file)
		return err
	}
	host, port, err := parseDiscover(name)
	if err != nil {
		return err
	}
	o.Machines = func(ctx context.Context) ([]string, error) {
		return lookUp(ctx, net.DefaultResolver, host, port)
	}
	return nil
}

// readAddresses reads a file with an address on each line. It ignores empty lines, and comments that begin
// with a #.
func readAddresses(path string) (addresses []string, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, problem.New("devices-file", path, reason(err), "").Because(err)
	}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if err := checkAddress(line); err != nil {
			return nil, problem.New("devices-file", fmt.Sprintf("%s:%d", path, number), err.Error(),
				"write for example 10.0.0.7:7443")
		}
		if !slices.Contains(addresses, line) {
			addresses = append(addresses, line)
		}
	}
	return addresses, nil
}

// reason returns the text of an error without the name of the file or host, which the caller adds.
func reason(err error) string {
	var p *os.PathError
	var d *net.DNSError
	switch {
	case errors.As(err, &p):
		return p.Err.Error()
	case errors.As(err, &d):
		return d.Err
	}
	return err.Error()
}

// checkAddress returns an error if text is not HOST:PORT.
func checkAddress(text string) error {
	host, port, err := net.SplitHostPort(text)
	n, e := strconv.Atoi(port)
	if err != nil || e != nil || host == "" || n < 1 || n > 65535 || strings.ContainsAny(text, "/ \t") {
		return fmt.Errorf("%q is not the address of a machine", text)
	}
	return nil
}

// parseDiscover reads a text of the form dns:NAME:PORT. The default of the port is 7443.
func parseDiscover(text string) (host, port string, err error) {
	name, ok := strings.CutPrefix(text, "dns:")
	if ok && !strings.Contains(name, ":") {
		name += ":7443"
	}
	if !ok || checkAddress(name) != nil {
		return "", "", problem.New("discover", strconv.Quote(text), "want the name that machines have in DNS",
			"write for example dns:devices.default.svc:7443")
	}
	host, port, err = net.SplitHostPort(name)
	return host, port, err
}

// resolver has the method of net.Resolver that lookUp needs.
type resolver interface {
	LookupHost(ctx context.Context, host string) ([]string, error)
}

// lookUp returns the addresses of the host name. For a name that does not exist, like the name of a
// headless service without pods, it returns neither an address nor an error.
func lookUp(ctx context.Context, r resolver, host, port string) (addresses []string, err error) {
	found, err := r.LookupHost(ctx, host)
	var e *net.DNSError
	switch {
	case errors.As(err, &e) && e.IsNotFound:
		return nil, nil
	case err != nil:
		return nil, problem.New("discover", host, reason(err), "").Because(err)
	}
	for _, a := range found {
		addresses = append(addresses, net.JoinHostPort(a, port))
	}
	slices.Sort(addresses)
	return addresses, nil
}
