package source

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// statusError is the error of a response whose status is neither 200 nor 304.
type statusError struct {
	code       int
	retryAfter time.Duration
}

func newStatusError(response *http.Response) *statusError {
	return &statusError{response.StatusCode, retryAfter(response.Header)}
}

// Error tells the status, and what to do about it.
func (e *statusError) Error() string {
	advice := "it is asked again"
	switch e.code {
	case http.StatusUnauthorized, http.StatusForbidden:
		advice = "check header, and what placeholders are replaced by"
	case http.StatusNotFound, http.StatusGone:
		advice = "check the URL"
	case http.StatusTooManyRequests:
		advice = "set poll to a longer interval"
	}
	return fmt.Sprintf("it answers %d %s; %s", e.code, http.StatusText(e.code), advice)
}

// reasonOf returns an error of a connection without what differs from try to try: an error that
// stays the same is reported once.
func reasonOf(err error) error {
	if expired, is := errors.AsType[x509.CertificateInvalidError](err); is &&
		expired.Reason == x509.Expired {
		return fmt.Errorf("its certificate is valid from %s until %s, which is not now by the clock "+
			"here; renew the certificate, or set the clock",
			expired.Cert.NotBefore.Format(time.RFC3339), expired.Cert.NotAfter.Format(time.RFC3339))
	}
	if _, is := errors.AsType[x509.HostnameError](err); is {
		return fmt.Errorf("%w; write a name that it is for, or get another certificate", err)
	}
	if _, is := errors.AsType[x509.UnknownAuthorityError](err); is {
		return fmt.Errorf("%w; let the system trust that", err)
	}
	if unresolved, is := errors.AsType[*net.DNSError](err); is {
		if unresolved.IsNotFound {
			return errors.New("there is no host of this name; check the URL")
		}
		return errors.New("no DNS server tells its address; check the DNS of this server")
	}
	if op, is := errors.AsType[*net.OpError](err); is {
		return fmt.Errorf("%s: %w", op.Op, op.Err)
	}
	return err
}
