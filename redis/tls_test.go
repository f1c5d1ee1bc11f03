package redis

import (
	"bytes"
	"os"
	"testing"
)

func TestACertificateThatIsRenewedIsShownWithoutAReload(t *testing.T) {
	before, after := newCertificates(t), newCertificates(t)
	files, err := (&Source{TLSCert: before.cert, TLSKey: before.key}).tlsFiles()
	if err != nil {
		t.Fatal(err)
	}
	first, err := files.own(nil)
	if err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{after.cert: before.cert, after.key: before.key} {
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	second, err := files.own(nil)
	if err != nil || bytes.Equal(first.Certificate[0], second.Certificate[0]) {
		t.Errorf("the old certificate is shown, error %v", err)
	}
}
