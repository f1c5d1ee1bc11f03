package testcaddy

import (
	"fmt"
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// SignIn lets ann, whose password is "secret", read and edit the page.
const SignIn = `
	basic_auth /.links* {
		ann $2a$04$hoKkVu6H3AmsMy5ZuEMJyeANa5W34/jOj/msfLgdN1a4Nn4ECPjW.
	}`

// AsAnn is the header line that signs ann in.
const AsAnn = "Authorization: Basic YW5uOnNlY3JldA=="

// The Accept header lines of browsers and programs.
const (
	AsHTML = "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	AsJSON = "Accept: application/json"
)

// PageBlock returns the content of a site's block with a page.
func PageBlock(file, options string) string {
	return fmt.Sprintf(`shortlink {
		from file %s
		name go
	}
	%s
	shortlink_page {
		handler go
		%s
	}
	test_echo`, file, SignIn, options)
}

// Post submits a form to a page as ann.
func (s *Server) Post(t *testing.T, target, form string, header ...string) Reply {
	t.Helper()
	header = append(header, AsAnn, "Content-Type: application/x-www-form-urlencoded",
		fmt.Sprint("Content-Length: ", len(form)))
	return s.Raw(t, "POST", "POST "+target+" HTTP/1.1\r\nHost: go.example\r\n"+HeaderLines(header)+
		"Connection: close\r\n\r\n"+form)
}

// FormOf returns the form fields of a page, as a browser would send them.
func (s *Server) FormOf(t *testing.T, target string) url.Values {
	t.Helper()
	got := s.Get(t, target, AsAnn, AsHTML)
	got.Wants(t, 200, `method="post"`)
	return FieldsOf(got.Body)
}

var (
	inputField  = regexp.MustCompile(`<input ([^>]*)>`)
	attribute   = regexp.MustCompile(`([a-z]+)="([^"]*)"`)
	choice      = regexp.MustCompile(`(?s)<select [^>]*name="([a-z]+)".*?</select>`)
	chosen      = regexp.MustCompile(`<option(?: value="([^"]*)")? selected>([^<]*)`)
	postingForm = regexp.MustCompile(`(?s)<form[^>]* method="post".*?</form>`)
)

// FieldsOf returns the fields of the form with method POST.
func FieldsOf(page string) url.Values {
	form := postingForm.FindString(page)
	fields := url.Values{}
	for _, input := range inputField.FindAllStringSubmatch(form, -1) {
		attributes := map[string]string{}
		for _, a := range attribute.FindAllStringSubmatch(input[1], -1) {
			attributes[a[1]] = html.UnescapeString(a[2])
		}
		isChoice := attributes["type"] == "checkbox" || attributes["type"] == "radio"
		if !isChoice || strings.Contains(input[1], " checked") {
			fields.Set(attributes["name"], attributes["value"])
		}
	}
	for _, selects := range choice.FindAllStringSubmatch(form, -1) {
		if option := chosen.FindStringSubmatch(selects[0]); option != nil {
			fields.Set(selects[1], option[1])
			if option[1] == "" && !strings.Contains(option[0], "value=") {
				fields.Set(selects[1], option[2])
			}
		}
	}
	return fields
}
