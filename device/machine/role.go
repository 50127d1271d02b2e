package machine

import (
	"crypto/x509"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/bnctl/bnctl/problem"
)

// Role is a side of a connection.
type Role string

// The roles.
const (
	Host   Role = "host"   // keeps the run and uses devices
	Device Role = "device" // offers devices
)

// other returns the role of the other side.
func (r Role) other() Role {
	if r == Host {
		return Device
	}
	return Host
}

// uri is the name of a role in certificates.
func (r Role) uri() *url.URL { return &url.URL{Scheme: "bnctl", Host: "role", Path: "/" + string(r)} }

// roles returns the roles that a certificate has.
func roles(c *x509.Certificate) (list []string) {
	for _, u := range c.URIs {
		if u.Scheme == "bnctl" && u.Host == "role" {
			list = append(list, strings.TrimPrefix(u.Path, "/"))
		}
	}
	return list
}

// check returns an error unless a certificate is trusted in a role at the time now, by the rules of the
// package comment. The chain to the authority may contain intermediates.
func check(c *x509.Certificate, intermediates []*x509.Certificate, r Role, f *files, now time.Time) error {
	if now.After(c.NotAfter) {
		return problem.Advise("make a new one with {devices-keys}",
			"its certificate has expired on %s", c.NotAfter.UTC().Format(time.DateTime))
	}
	if now.Before(c.NotBefore) {
		return problem.Advise("compare the clocks of the machines",
			"its certificate is valid only from %s on", c.NotBefore.UTC().Format(time.DateTime))
	}
	between := x509.NewCertPool()
	for _, i := range intermediates {
		between.AddCert(i)
	}
	usage := []x509.ExtKeyUsage{x509.ExtKeyUsageAny}
	if _, err := c.Verify(x509.VerifyOptions{Roots: f.authorities, Intermediates: between, CurrentTime: now,
		KeyUsages: usage}); err != nil {
		return problem.Advise("give both sides certificates of the same authority",
			"its certificate is not of an authority in ca.crt (%v)", err)
	}
	if all := roles(c); len(all) != 1 || all[0] != string(r) {
		return problem.Advise("see {devices-keys}", "its certificate is for the role %s, not for %s",
			roleText(all), r)
	}
	if f.revoked[serial(c)] {
		return fmt.Errorf("its certificate %s is revoked", serial(c))
	}
	return nil
}

func roleText(roles []string) string {
	if len(roles) == 0 {
		return "of no side of bnctl"
	}
	return strings.Join(roles, " and ")
}

// serial returns the serial number of a certificate in hexadecimal, as in the file revoked.
func serial(c *x509.Certificate) string { return fmt.Sprintf("%x", c.SerialNumber) }
