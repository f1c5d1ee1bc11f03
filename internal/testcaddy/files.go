package testcaddy

import (
	"io"
	"os"
	"strings"
	"testing"

	"aead.dev/minisign"
)

// Write replaces a file atomically, as careful programs do.
func Write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.WriteFile(path+".new", []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// ReadFile returns the content of a file.
func ReadFile(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	Must(t, err)
	return string(content)
}

// Must fails the test if there is an error.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Signature returns the signature of a text, in the file format of minisign.
func Signature(t *testing.T, text string, key minisign.PrivateKey) string {
	t.Helper()
	reader := minisign.NewReader(strings.NewReader(text))
	_, err := io.Copy(io.Discard, reader)
	Must(t, err)
	return string(reader.Sign(key))
}
