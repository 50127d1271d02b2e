package server

import (
	"cmp"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/bnctl/bnctl/problem"
)

// Security selects the clients that may use the server. With the zero value only clients on this machine may
// use it.
type Security struct {
	// Insecure permits addresses that other machines can reach, even without TLS.
	Insecure    bool
	Certificate string // file of the certificate and its chain, PEM; "": no TLS
	Key         string // file of its private key
	// Clients is a file of CA certificates, PEM. A client must then have a certificate that is signed by one of
	// them. "": clients need no certificate. This file and the two files above are read again when they change.
	Clients string
	// Tokens is a file of mode 0600 with a token on each line. A request must have one of
	// these tokens. The file is read again when it changes. "": requests need no token.
	Tokens string
	// Hosts are values of the Host header that are permitted in addition to the names of this machine. Other
	// values are refused, as a protection against DNS rebinding. "*" permits any value.
	Hosts      []string
	Reflection bool // permits gRPC reflection from other machines
}

// check returns an error if other machines can reach an address and neither TLS nor Insecure is set.
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

// checkFiles returns an error if the options about files contradict each other. It does not consider
// addresses.
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
