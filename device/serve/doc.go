// Package serve is the plugin's side of the plugin protocol: everything that
// the main function of a device plugin needs.
//
// Use it for the main function of a plugin in Go. Plugins in other languages
// implement the protocol: see docs/plugins.md.
//
//	func main() { serve.Main(myProvider{}) }
//
// The provider and its devices are called as package device describes. Package serve
// adds the handshake, sessions over gRPC and through shared memory, the exchanges
// of a group and `BINARY describe`. It also makes the process a well-behaved child
// of the host. The process ends when its standard input ends, and ignores SIGINT and
// SIGHUP. Output of libraries to standard output is redirected to standard error.
package serve
