package page

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/caddy-shortlink/shortlink/internal/client"
)

// The content types of an edit.
const (
	formType = "application/x-www-form-urlencoded"
	jsonType = "application/json"
)

// mostForm is the maximum size of a form. A key, a destination and the previous rule have up to
// 65,535 bytes each, and three times as many when a form encodes them.
const mostForm = 1 << 20

// knownFields are the names of all fields of an edit.
const knownFields = "key to " + fieldStatus + " " + fieldExact + " " + fieldUnlisted +
	" query note since until " + fieldDigest + " " + fieldWas + " " + fieldConfirm + " " +
	fieldAction + " " + fieldNewKey + " " + fieldOld + " " + fieldChange

// readFields reads the fields of an edit into r.PostForm, from a form or a JSON object.
func (r *request) readFields() (err error) {
	r.Body = http.MaxBytesReader(nil, r.Body, mostForm)
	switch kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind {
	case formType:
		err = r.ParseForm()
	case jsonType:
		r.PostForm, err = fieldsOfJSON(r.Body)
	default:
		return client.Errorf(http.StatusUnsupportedMediaType, "an edit is a form or a JSON object; "+
			"send it with Content-Type: %s or %s", formType, jsonType)
	}
	if err != nil {
		return client.Errorf(http.StatusBadRequest, "the form cannot be read: %w", err)
	}
	known := strings.Fields(knownFields)
	for _, name := range slices.Sorted(maps.Keys(r.PostForm)) {
		if len(r.PostForm[name]) > 1 {
			return client.Errorf(http.StatusBadRequest, "the field %q is given twice; keep one", name)
		}
		if !slices.Contains(known, name) {
			return client.Errorf(http.StatusBadRequest, "an edit has no field %q; its fields are %s",
				name, strings.Join(known, ", "))
		}
	}
	for _, name := range []string{fieldExact, fieldUnlisted} {
		if _, ok := parseYes(r.PostForm.Get(name)); !ok {
			return client.Errorf(http.StatusBadRequest, "the field %s takes true or false, not %q",
				name, r.PostForm.Get(name))
		}
	}
	return nil
}

// parseYes parses the value of a field that says yes or no.
func parseYes(value string) (isYes, ok bool) {
	switch value {
	case "true", "1", "on", "yes":
		return true, true
	case "", "false", "0", "off", "no":
		return false, true
	}
	return false, false
}

// fieldsOfJSON reads a JSON object as the fields of a form; the value null is an empty one. The
// status may also be a number, and exact and unlisted may be true or false.
func fieldsOfJSON(body io.Reader) (url.Values, error) {
	content, err := io.ReadAll(body)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.UseNumber()
	start, _ := decoder.Token()
	if start != json.Delim('{') || !json.Valid(content) || !utf8.Valid(content) {
		return nil, errors.New("the content is no JSON object in UTF-8")
	}
	fields := url.Values{}
	for decoder.More() {
		name, _ := decoder.Token()
		value, _ := decoder.Token()
		text, err := textOf(name.(string), value)
		if err != nil {
			return nil, err
		}
		fields.Add(name.(string), text)
	}
	return fields, nil
}

// textOf returns the text of a field in JSON.
func textOf(name string, value json.Token) (string, error) {
	_, isNumber := value.(json.Number)
	_, isBool := value.(bool)
	takes, isOther := "a string", false
	switch name {
	case fieldStatus:
		takes, isOther = "a string or a number", isNumber
	case fieldExact, fieldUnlisted:
		takes, isOther = "true or false", isBool
	}
	if text, isText := value.(string); isText || value == nil {
		return text, nil
	}
	if !isOther {
		return "", fmt.Errorf("the field %q takes %s", name, takes)
	}
	return fmt.Sprint(value), nil
}

// randomKey returns a key that no link has, nor one that is easily mistaken for it. Its letters
// make no word, as there is no vowel.
func (r *request) randomKey() string {
	const letters, length, tries = "bcdfghjklmnpqrstvwxz", 5, 100
	for n := 0; ; n++ {
		key := make([]byte, length+n/tries) // longer where most are taken
		_, _ = rand.Read(key)               // it never fails
		for i, b := range key {
			key[i] = letters[int(b)%len(letters)]
		}
		_, isTaken := r.links.Serving().Written(string(key))
		if !isTaken && r.alike(string(key), nil) == "" {
			return string(key)
		}
	}
}
