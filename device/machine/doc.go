// Package machine decides which hosts and machines trust each other if a host uses the devices of
// other machines. Connections use TLS 1.3 with a certificate on both sides.
//
// Use it with device/serve and device/remote, which move the calls. Package fleet connects them.
//
// # Files
//
// A side is a folder with the files below. The first three have the names of a Kubernetes Secret of
// type kubernetes.io/tls, as cert-manager writes it:
//
//	ca.crt       the authority that both sides trust; it may have several certificates
//	tls.crt      the certificate of this side
//	tls.key      its private key
//	revoked      serial numbers of certificates that are refused, one on a line (optional)
//
// # Who is trusted
//
// Names and addresses do not matter, because machines come and go. A certificate is trusted if an
// authority in ca.crt has signed it, it is valid now, its serial number is not in revoked, and it has
// the role of the other side: the URI bnctl://role/host or bnctl://role/device among its names.
// Therefore many machines may share one certificate, and a machine with devices cannot use the devices
// of another machine.
//
// If the files change, the next connection reads them again. Package device/serve also checks open
// connections from time to time with the current files.
package machine
