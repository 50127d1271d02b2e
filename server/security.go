package server

import (
	"net"
	"strconv"

	"github.com/bnctl/bnctl/problem"
)

// Security says who may ask. The zero value is for this machine alone.
type Security struct {
	// Insecure: addresses that other machines reach need no TLS.
	Insecure    bool
	Certificate string // file of the certificate and those that vouch for it, PEM; "": no TLS
	Key         string // file of its private key
	// Clients is a file of certificates: who asks must have one that these vouch
	// for. "": nobody needs one. This file and those above are read again when they
	// change.
	Clients string
	// Tokens is a file that only its user may read, with a token on each line: who
	// asks must have one. It is read again when it changes. "": nobody needs one.
	Tokens string
	// Hosts are names by which the server is called, beside those of this machine:
	// other names are refused, for they are another site's that points here. "*" is any.
	Hosts      []string
	Reflection bool // gRPC tells what it serves to other machines too
}

// check refuses an address that is open to others without protection.
func (s *Security) check(field, address string) error {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return problem.New(field, strconv.Quote(address), "want HOST:PORT", "write for example 127.0.0.1:8000")
	}
	if (s.Certificate == "") != (s.Key == "") {
		return problem.New("tls-cert", "", "a certificate and its key go together: {tls-cert} and {tls-key}", "")
	}
	if s.Clients != "" && s.Certificate == "" {
		return problem.New("client-ca", s.Clients, "means something only with {tls-cert}", "")
	}
	if loopback(address) || s.Certificate != "" || s.Insecure {
		return nil
	}
	return problem.New(field, strconv.Quote(address), "other machines would reach it, and nothing protects it",
		"listen on 127.0.0.1, give {tls-cert} and {tls-key}, or say {insecure}")
}

// loopback reports whether only this machine reaches an address.
func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && here(host)
}

// here reports whether a host is this machine, to itself.
func here(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
