package redis

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
)

func TestTheCaddyfileHasAllOptions(t *testing.T) {
	var s Source
	err := s.UnmarshalCaddyfile(caddyfile.NewTestDispenser(`redis links {
		url rediss://edge:secret@redis.example.com:6380/2
		cluster
		tls_ca ca.pem
		tls_cert cert.pem key.pem
		poll 30s
	}`))
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(&s)
	const want = `{"hash":"links","url":"rediss://edge:secret@redis.example.com:6380/2","cluster":true,` +
		`"tls_ca":"ca.pem","tls_cert":"cert.pem","tls_key":"key.pem","poll":"30s"}`
	if err != nil || string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
}

func TestTheNameOfAHashIsEnough(t *testing.T) {
	var s Source
	if err := s.UnmarshalCaddyfile(caddyfile.NewTestDispenser("redis links")); err != nil {
		t.Fatal(err)
	}
	e := newEdge(t, &s, t.TempDir())
	if e.source.server.address != "localhost:6379/0" || e.source.every != defaultPoll {
		t.Errorf("it reads %s every %v", e.source.server.address, e.source.every)
	}
}

func TestAURLCanBeAPlaceholder(t *testing.T) {
	var s Source
	block := "redis links {\n url {env.REDIS_URL}\n}"
	if err := s.UnmarshalCaddyfile(caddyfile.NewTestDispenser(block)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("REDIS_URL", "127.0.0.1:6379")
	const want = "url takes a URL; write redis:// in front of it, such as redis://127.0.0.1:6379"
	if err := provision(t, &s); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("the error is %v", err)
	}
}

func TestTheCaddyfileIsToldWhatToWriteInstead(t *testing.T) {
	for text, message := range map[string]string{
		"redis": "Testfile:1: from redis: the argument is missing; after from redis write " +
			"the name of a hash, or a prefix of keys and *",
		"redis links more": "it takes the name of a hash, or a prefix of keys and *; put " +
			"options into its block",
		"redis links {\n url\n}": "url takes a URL such as " +
			"redis://user:password@host:6379/0",
		"redis links {\n url localhost:6379\n}": "url takes a URL; write redis:// in front of it, " +
			"such as redis://localhost:6379",
		"redis links {\n url u:p@host:6379\n}": "such as redis://host:6379",
		"redis links {\n url /run/redis.sock\n}": "write unix:// in front of it, such as " +
			"unix:///run/redis.sock",
		"redis links {\n url http://host\n}": "url must begin with redis://, with TLS rediss://, or " +
			"unix://, not http://",
		"redis links {\n url a b\n}":    "url takes a URL",
		"redis links {\n cluster on\n}": "cluster stands alone",
		"redis links {\n tls_ca\n}":     "tls_ca takes a PEM file",
		"redis links {\n tls_cert a\n}": "tls_cert takes two PEM files",
		"redis links {\n poll\n}": "poll takes a duration of at least 1ms, such as 2s, " +
			"or off",
		"redis links {\n poll soon\n}": `poll takes a duration of at least 1ms, such as 2s, or off, not "soon"`,
		"redis links {\n poll 0\n}":    `not "0"`,
		"redis links {\n poll -1s\n}":  `not "-1s"`,
		"redis links {\n address a\n}": `"address" is not an option; the options are url, cluster, tls_ca, tls_cert, poll, start`,
		"redis links {\n allow_empty\n}": "Testfile:2: from redis: allow_empty is for files and " +
			"storage entries; a hash, or a prefix of keys, without any rule is always refused; " +
			"leave it out",
		"redis links {\n poll 1s\n poll 2s\n}": "Testfile:3: from redis: poll is given twice",
		"redis links {\n cluster\n cluster\n}": "cluster is given twice",
		"redis a b {\n poll 0\n c\n}": "Testfile:1: from redis: it takes the name of a hash, or a prefix " +
			"of keys and *; put options into its block\n" +
			"Testfile:2: from redis: poll takes a duration of at least 1ms, such as 2s, or off, not \"0\"\n" +
			"Testfile:3: from redis: \"c\" is not an option",
	} {
		t.Run(text, func(t *testing.T) {
			err := new(Source).UnmarshalCaddyfile(caddyfile.NewTestDispenser(text))
			if err == nil || !strings.Contains(err.Error(), message) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}
