package machine

import (
	"net"

	"google.golang.org/grpc/credentials"
)

// Credentials returns the credentials of a gRPC server that accepts hosts. refused, if not nil, is
// called with the address of a client that is not trusted, and the reason.
func (s *Side) Credentials(refused func(address string, why error)) credentials.TransportCredentials {
	return &noting{credentials.NewTLS(s.Config()), refused}
}

// noting is credentials that report refused connections.
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
