package server

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/server/internal/protocol"
)

// guard refuses requests that pages of other web sites make, and requests without a valid token.
type guard struct {
	hosts  []string
	tokens *tokens // nil: no token is required
	next   http.Handler
}

// ServeHTTP implements http.Handler.
func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'self'; frame-ancestors 'none'; form-action 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	if len(r.TransferEncoding) > 0 {
		h.Set("Connection", "close") // a proxy before this server may see another end of the body (RFC 9112, 6.1)
	}
	err := g.checkOrigin(r)
	if err == nil && g.tokens != nil && !g.tokens.has(bearerToken(r)) {
		h.Set("WWW-Authenticate", `Basic realm="bnctl: any name, and a token", charset="UTF-8"`)
		err = protocol.Refuse(protocol.Unauthorised, "want Authorization: Bearer and a token")
	}
	if err != nil {
		writeError(w, err)
		return
	}
	g.next.ServeHTTP(w, r)
}

// bearerToken returns the token of a request. This is a bearer token, or the password of basic
// authentication, which browsers support.
func bearerToken(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(token)
	}
	_, password, _ := r.BasicAuth()
	return password
}

// checkOrigin refuses requests that pages of other web sites make, by DNS rebinding or across origins.
func (g *guard) checkOrigin(r *http.Request) error {
	if !g.hostAllowed(r) {
		return protocol.Refuse(protocol.Forbidden, "this server is not called %.80q", r.Host)
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		u, err := url.Parse(origin)
		if err != nil || u.Host == "" || u.Host != r.Host {
			return protocol.Refuse(protocol.Forbidden, "pages of %.80q may not ask this server", origin)
		}
	}
	from := r.Header.Get("Sec-Fetch-Site")
	if from == "cross-site" && r.Method != http.MethodGet && r.Method != http.MethodHead {
		return protocol.Refuse(protocol.Forbidden, "pages of other sites may not ask this server")
	}
	return nil
}

// hostAllowed reports whether the Host header names this server: a name of this machine, the
// address that the client connected to, or one of Security.Hosts.
func (g *guard) hostAllowed(r *http.Request) bool {
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return hostAllowed(r.Host, g.hosts, local)
}

func hostAllowed(name string, hosts []string, local net.Addr) bool {
	host, _, err := net.SplitHostPort(name)
	if err != nil {
		host = strings.Trim(name, "[]")
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	same := func(known string) bool { return known == "*" || host != "" && strings.EqualFold(known, host) }
	if loopbackHost(host) || slices.ContainsFunc(hosts, same) {
		return true
	}
	ip := net.ParseIP(host)
	at, ok := local.(*net.TCPAddr)
	return ok && ip != nil && ip.Equal(at.IP)
}
