package source

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-shortlink/shortlink/rulefile"
)

// mostRedirects is how many redirects are followed.
const mostRedirects = 5

// get fetches a part, or returns it as it is known. The zero part is not known.
func (s *URL) get(ctx context.Context, i int, known part) (p part, err error) {
	own, err := s.target(ofRules)
	target := own
	if err == nil {
		target, err = s.target(i)
	}
	j := s.network.newJourney()
	defer j.end()
	for hop := 0; err == nil && target != nil; hop++ {
		if err = checkRedirect(target, hop); err != nil {
			break
		}
		var response *http.Response
		if response, err = j.send(s.newRequest(ctx, target, own, known)); err == nil {
			p, target, err = s.receive(i, response, known)
			response.Body.Close()
		}
	}
	if err != nil {
		err = fmt.Errorf("%s%w", partNames[i], err)
	}
	return p, err
}

// checkRedirect checks where the server redirects to; the first target is none.
func checkRedirect(to *url.URL, hop int) error {
	switch {
	case hop > 0 && to.Scheme != "https":
		return fmt.Errorf("it redirects to %s://%s, and redirects are followed to https only; write "+
			"the URL that it leads to", to.Scheme, to.Host)
	case hop > mostRedirects:
		return fmt.Errorf("it redirects more than %d times, at last to %s; write the URL that it "+
			"leads to", mostRedirects, to.Host)
	}
	return nil
}

// newRequest returns a request for a part that is perhaps known. It has the configured header
// fields only if it goes where the URL of the rules leads.
func (s *URL) newRequest(ctx context.Context, target, own *url.URL, known part) *http.Request {
	request := (&http.Request{Method: http.MethodGet, URL: target, Header: http.Header{
		"User-Agent":      {s.userAgent()},
		"Accept-Encoding": {"zstd, gzip"},
	}}).WithContext(ctx)
	if known.etag != "" {
		request.Header.Set("If-None-Match", known.etag)
	} else if known.modified != "" {
		request.Header.Set("If-Modified-Since", known.modified)
	}
	if target.Scheme != own.Scheme || target.Host != own.Host {
		return request
	}
	if own.User != nil {
		password, _ := own.User.Password()
		request.SetBasicAuth(own.User.Username(), password)
	}
	replacer := caddy.NewReplacer()
	for name, values := range s.Headers {
		request.Header.Del(name)
		for _, value := range values {
			request.Header.Add(name, replacer.ReplaceKnown(value, ""))
		}
	}
	return request
}

// userAgent names the version and the handler.
func (s *URL) userAgent() string {
	version := "devel"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range append(info.Deps, &info.Main) {
			if module.Path == modulePath && strings.HasPrefix(module.Version, "v") {
				version = module.Version
			}
		}
	}
	return "caddy-shortlink/" + version + " (handler " + s.handler + ")"
}

const modulePath = "github.com/caddy-shortlink/shortlink"

// receive reads a response to the end. It returns the part, or where the server redirects to.
func (s *URL) receive(
	i int, response *http.Response, known part,
) (p part, redirect *url.URL, err error) {
	switch response.StatusCode {
	case http.StatusOK:
		p, err = s.receivePart(i, response)
		return p, nil, err
	case http.StatusNotModified:
		if known.etag == "" && known.modified == "" {
			err = errors.New("it answers 304 Not Modified to a request without a condition; mend the " +
				"server or the cache in front of it")
		}
		return known, nil, err
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		location := response.Header.Get("Location")
		redirect, err = response.Request.URL.Parse(location)
		if err != nil || redirect.Host == "" || location == "" {
			err = errors.New("it redirects without a valid Location; write the URL of the rules")
		}
		return part{}, redirect, err
	}
	return part{}, nil, newStatusError(response)
}

// receivePart reads the text of a part, its validators and its format.
func (s *URL) receivePart(i int, response *http.Response) (part, error) {
	format, err := s.formatOf(response)
	if err != nil && i == ofRules {
		return part{}, err
	}
	text, err := readBody(response, s.MaxSize)
	p := newPart(text)
	p.etag, p.modified = response.Header.Get("ETag"), response.Header.Get("Last-Modified")
	p.format = format
	return p, err
}

// formatOf returns the format that is written, or that the Content-Type tells, or the path.
func (s *URL) formatOf(response *http.Response) (rulefile.Format, error) {
	media, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	switch {
	case s.Format != "":
	case media == "application/json" || strings.HasSuffix(media, "+json"):
		return rulefile.JSON, nil
	case media == "text/csv" || media == "text/tab-separated-values":
		return rulefile.CSV, nil
	case media == "text/html" || media == "application/xhtml+xml":
		return "", fmt.Errorf("it answers with a page, of Content-Type %s: write the URL of the raw "+
			"file, or, if these are rules, their format", media)
	}
	target, err := s.target(ofRules)
	if err != nil {
		return "", err
	}
	return formatOf(s.Format, target.Path)
}
