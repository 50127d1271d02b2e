package server

import (
	"cmp"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/bnctl/bnctl/problem"
)

// Security selects the clients to serve. The zero value is for clients on this machine
// only.
type Security struct {
	// Insecure permits addresses without TLS that other machines can reach.
	Insecure    bool
	Certificate string // file of the certificate and its chain, PEM; "": no TLS
	Key         string // file of its private key
	// Clients is a file of CA certificates, PEM. A client must have a certificate signed by
	// one of them. "": clients need no certificate. This file and the files above are read
	// again when they change.
	Clients string
	// Tokens is a file of mode 0600 with a token on each line. A request must have one of
	// these tokens. The file is read again when it changes. "": requests need no token.
	Tokens string
	// Hosts are permitted values of the Host header, in addition to the names of this
	// machine. Other values are refused, against DNS rebinding. "*" permits any.
	Hosts      []string
	Reflection bool // permits gRPC reflection from other machines
}

// check returns an error for an address that other machines can reach without protection.
func (s *Security) check(field, address string) error {
	path, isUnix := unixPath(address)
	if isUnix && field == "http" {
		return cmp.Or(checkUnix(field, path), s.checkFiles())
	}
	if strings.Contains(address, "/") || strings.HasPrefix(address, "unix:") {
		return problem.New(field, strconv.Quote(address),
			"want HOST:PORT; sockets in the file system are not supported",
			"listen on 127.0.0.1; {http} has unix:PATH")
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return problem.New(field, strconv.Quote(address), "want HOST:PORT", "write for example 127.0.0.1:8000")
	}
	if _, err := net.LookupPort("tcp", port); err != nil || port == "" {
		return problem.New(field, strconv.Quote(address), "want a port from 0 to 65535",
			"write for example 127.0.0.1:8000")
	}
	if err := s.checkFiles(); err != nil || loopback(address) || s.Certificate != "" || s.Insecure {
		return err
	}
	return problem.New(field, strconv.Quote(address), "other machines would reach it, and nothing protects it",
		"listen on 127.0.0.1, give {tls-cert} and {tls-key}, or set {insecure}")
}

// checkFiles returns an error for options that do not fit together. It does not consider addresses.
func (s *Security) checkFiles() error {
	if slices.Contains(s.Hosts, "") {
		return problem.New("host", "", "a name is empty", "write the server's name for clients")
	}
	if (s.Certificate == "") != (s.Key == "") {
		return problem.New("tls-cert", "", "a certificate and its key go together: {tls-cert} and {tls-key}", "")
	}
	if s.Clients != "" && s.Certificate == "" {
		return problem.New("client-ca", s.Clients, "means something only with {tls-cert}", "")
	}
	return nil
}

// loopback reports whether an address can be reached from this machine only.
func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && loopbackHost(host)
}

// loopbackHost reports whether a host is a name or an address of the loopback interface.
func loopbackHost(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
