package fetch_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/fetch"
)

// get fetches from a server that answers with some bytes.
func get(t *testing.T, scheme, answer string) error {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		connection, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_, err = connection.Write([]byte(answer))
		}
		if err == nil {
			err = connection.(*net.TCPConn).Close()
		}
		if err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	from, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	from.Scheme = scheme
	client := fetch.Client{MaxSize: 100, IsPrivate: func(netip.AddrPort) bool { return false }}
	_, err = client.Get(t.Context(), from, fetch.Resource{})
	return err
}

func TestAnAnswerThatIsNotValidIsNotCited(t *testing.T) {
	const notValid = "its answer is not valid; check the port, and the server"
	for answer, told := range map[string]string{
		"a-secret\r\n\r\n":                                                  notValid,
		"HTTP/a-secret 200 OK\r\n\r\n":                                      notValid,
		"HTTP/1.1 a-secret OK\r\n\r\n":                                      notValid,
		"HTTP/1.1 200 OK\r\na-secret\r\n\r\n":                               notValid,
		"HTTP/1.1 200 OK\r\nContent-Length: a-secret\r\n\r\n":               notValid,
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: a-secret\r\n\r\n":            notValid,
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na-secret\r\n": "",
		"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\na-secret":             "the response was cut off",
		"HTTP/1.1 302 Found\r\nLocation: https://%a-secret/\r\n\r\n":        "it redirects without a valid Location",
		"HTTP/1.1 302 Found\r\nLocation: a-secret://x/a-secret\r\n\r\n":     "it redirects to",
		"HTTP/1.1 101 a-secret\r\n\r\n":                                     "it answers 101 Switching Protocols",
		"HTTP/1.1 999 a-secret\r\n\r\n":                                     "it answers 999",
		"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("a-secret", 10_000):       "its header is longer than 64 KiB",
		strings.Repeat("HTTP/1.1 103 a-secret\r\n\r\n", 1000):               "",
	} {
		err := get(t, "http", answer)
		if err == nil || !strings.Contains(err.Error(), told) {
			t.Errorf("%.60q: the error is %v", answer, err)
		} else if strings.Contains(err.Error(), "a-secret") && !strings.HasPrefix(told, "it redirects to") {
			t.Errorf("%.60q: the error cites it: %v", answer, err)
		}
	}
}

func TestAServerWithoutTLSIsToldOf(t *testing.T) {
	err := get(t, "https", "HTTP/1.1 400 Bad Request\r\n\r\n")
	if err == nil || !strings.Contains(err.Error(), "there is no TLS at this port; check the port") {
		t.Errorf("the error is %v", err)
	}
}
