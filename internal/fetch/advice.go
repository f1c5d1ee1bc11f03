package fetch

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/caddy-shortlink/shortlink/internal/printable"
)

// statusAdvice says what to do about the status of a response.
var statusAdvice = map[int]string{
	http.StatusUnauthorized:    "; check header, or user and password, and whether they still hold",
	http.StatusForbidden:       "; check header, and whether it may read this file",
	http.StatusNotFound:        "; check the path, and header: servers may hide what one may not read",
	http.StatusTooManyRequests: "; set a longer poll",
}

const (
	cutOff     = "the response was cut off; if it stays so, check the server and its proxies"
	notValid   = "its answer is not valid; check the port, and the server"
	longHeader = "its header is longer than 64 KiB; check whether the URL is that of a file"
)

// errorAdvice says what to do about the error of a connection, by a part of its text. The text of
// an error can differ from try to try, and contain what the server has sent, so it is shown only
// where <error> stands.
var errorAdvice = []struct{ part, told string }{
	{"certificate signed by unknown authority", "the authority of its certificate is unknown here; " +
		"let the server send all of the chain, or add the authority to those of the system"},
	{"failed to verify certificate", "<error>; write a host that it names, or replace it"},
	{"does not look like a TLS handshake", "there is no TLS at this port; check the port"},
	{"no such host", "there is no host of this name; check the name"},
	{"lookup ", "no DNS server tells its address; check the DNS of this machine"},
	{"connection refused", "it refuses the connection; check the port, and whether the server runs"},
	{"no route to host", "there is no way to it; check the network, and firewalls"},
	{"headers exceeded", longHeader},
	{"header list larger", longHeader},
	{"COMPRESSION_ERROR", longHeader},
	{"invalid header field", "<error>; check header"},
	{"gzip: ", "its Content-Encoding is gzip, and its content is not; check the server"},
	{"magic number", "its Content-Encoding is zstd, and its content is not; check the server"},
	{"EOF", cutOff},
	{"connection reset", cutOff},
	{"stream error", cutOff},
	{"GOAWAY", cutOff},
	{"malformed", notValid},
	{"connection error", notValid},
	{"\"", notValid}, // it cites the answer
}

// advise returns an error that says what to do, and stays the same for as long as its reason does.
func advise(err error) error {
	if invalid, is := errors.AsType[x509.CertificateInvalidError](err); is &&
		invalid.Reason == x509.Expired {
		return fmt.Errorf("its certificate is valid from %s until %s, which is not now by the clock "+
			"here; renew it, or set the clock", invalid.Cert.NotBefore.Format(time.RFC3339),
			invalid.Cert.NotAfter.Format(time.RFC3339))
	}
	if failed, is := errors.AsType[*net.OpError](err); is {
		err = failed.Err // without addresses, which differ from try to try
	}
	text := err.Error()
	for _, advice := range errorAdvice {
		if strings.Contains(text, advice.part) {
			shown := printable.Text(fmt.Sprintf("%.300s", text))
			return errors.New(strings.ReplaceAll(advice.told, "<error>", shown))
		}
	}
	return err
}
