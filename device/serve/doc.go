// Package serve is the plugin's side of the border: all that the main function
// of a device plugin needs.
//
// Use it for the main function of a plugin in Go. In another language the
// protocol file is the way: see docs/plugins.md.
//
//	func main() { serve.Main(myProvider{}) }
//
// The provider and its devices are called as package device says. What serve
// adds: the handshake, sessions over gRPC and through shared memory, the
// exchanges of a group, `BINARY describe`, and the manners of a child process:
// it ends when its standard input does, ignores SIGINT and SIGHUP, and keeps what
// libraries print away from the host.
package serve
