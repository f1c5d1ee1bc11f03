package testcaddy

import (
	"net/http"
	"runtime"
)

// Response is a ResponseWriter whose header holds what Caddy's server has put there. It
// keeps header and status and nothing else.
type Response struct {
	header http.Header
	Status int
}

// NewResponse returns a response to which nothing has been written.
func NewResponse() *Response {
	return &Response{header: http.Header{"Server": {"Caddy"}}}
}

func (w *Response) Header() http.Header         { return w.header }
func (w *Response) Write(b []byte) (int, error) { return len(b), nil }
func (w *Response) WriteHeader(status int)      { w.Status = status }

// Heap returns the bytes that are in use.
func Heap() int64 {
	runtime.GC()
	runtime.GC() // what the first one found to be finalised
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
