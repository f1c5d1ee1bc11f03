package testcaddy

import (
	"net/http"
	"runtime"
)

// Response is a ResponseWriter with the header fields that Caddy's server sets. It records only
// header and status.
type Response struct {
	header http.Header
	Status int
}

// NewResponse returns an unwritten response.
func NewResponse() *Response {
	return &Response{header: http.Header{"Server": {"Caddy"}}}
}

func (w *Response) Header() http.Header         { return w.header }
func (w *Response) Write(b []byte) (int, error) { return len(b), nil }
func (w *Response) WriteHeader(status int)      { w.Status = status }

// Heap returns the number of heap bytes in use.
func Heap() int64 {
	runtime.GC()
	runtime.GC() // frees what the first one finalised
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
