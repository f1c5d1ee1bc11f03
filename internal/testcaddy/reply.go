package testcaddy

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Eventually repeats a request until the reply is the wanted one.
func (s *Server) Eventually(t *testing.T, target, want string) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		got := s.Get(t, target).Location()
		if got == want {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: got %s, want %s", target, got, want)
		}
		time.Sleep(5 * time.Millisecond) // waits for the poll of another process
	}
}

// Reply is a response as a client sees it.
type Reply struct {
	Status int
	Header http.Header
	Body   string
}

// Location returns status and Location in one string, for tables.
func (r Reply) Location() string {
	return strings.TrimSpace(fmt.Sprint(r.Status, " ", r.Header.Get("Location")))
}

// Get requests target, sent unchanged, from host go.example.
func (s *Server) Get(t testing.TB, target string, header ...string) Reply {
	t.Helper()
	return s.Raw(t, "GET",
		"GET "+target+" HTTP/1.1\r\nHost: go.example\r\n"+HeaderLines(header)+"Connection: close\r\n\r\n")
}

// HeaderLines returns the lines of a header, each with its line end.
func HeaderLines(header []string) string {
	if len(header) == 0 {
		return ""
	}
	return strings.Join(header, "\r\n") + "\r\n"
}

// Raw sends a request, byte for byte, and reads the response.
func (s *Server) Raw(t testing.TB, method, request string) Reply {
	t.Helper()
	conn, err := net.Dial("tcp", s.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%q: %v", request, err)
	}
	return ReadReply(t, response)
}

// ReadReply reads a whole response.
func ReadReply(t testing.TB, response *http.Response) Reply {
	t.Helper()
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return Reply{response.StatusCode, response.Header, string(body)}
}

// Wants fails the test for a different status or a missing text.
func (r Reply) Wants(t *testing.T, status int, texts ...string) {
	t.Helper()
	if r.Status != status {
		t.Errorf("status %d, want %d:\n%s", r.Status, status, r.Body)
	}
	for _, text := range texts {
		if !strings.Contains(r.Body, text) {
			t.Errorf("the answer has no %q:\n%s", text, r.Body)
		}
	}
}

// Leads checks the destination of a request.
func (s *Server) Leads(t *testing.T, target, want string) {
	t.Helper()
	if got := s.Get(t, target).Location(); got != want {
		t.Errorf("%s: got %s, want %s", target, got, want)
	}
}
