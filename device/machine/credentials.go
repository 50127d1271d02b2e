package machine

import (
	"net"

	"google.golang.org/grpc/credentials"
)

// Credentials returns the credentials with which a server of gRPC accepts hosts. refused is
// called with the address of a client that is not trusted, and the reason; it may be nil.
func (s *Side) Credentials(refused func(address string, why error)) credentials.TransportCredentials {
	return &noting{credentials.NewTLS(s.Config()), refused}
}

// noting notes connections that are refused.
type noting struct {
	credentials.TransportCredentials
	refused func(address string, why error)
}

// ServerHandshake implements credentials.TransportCredentials.
func (n *noting) ServerHandshake(c net.Conn) (net.Conn, credentials.AuthInfo, error) {
	conn, info, err := n.TransportCredentials.ServerHandshake(c)
	if err != nil && n.refused != nil {
		n.refused(c.RemoteAddr().String(), err)
	}
	return conn, info, err
}

// Clone implements credentials.TransportCredentials.
func (n *noting) Clone() credentials.TransportCredentials {
	return &noting{n.TransportCredentials.Clone(), n.refused}
}
