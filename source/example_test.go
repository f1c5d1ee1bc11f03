package source_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/source"
)

// Pages is a source with a rule for each file of a directory: guide.html has the key "guide".
type Pages struct {
	Directory string `json:"directory"`
	Below     string `json:"below"`
}

func init() { caddy.RegisterModule(new(Pages)) }

func (*Pages) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "http.shortlink.sources.pages",
		New: func() caddy.Module { return new(Pages) },
	}
}

// UnmarshalCaddyfile reads "pages <directory>" and a block with the option below.
func (p *Pages) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	block := source.Block{Argument: "one directory", Value: &p.Directory,
		Options: []source.BlockOption{
			{Name: "below", Takes: "takes a URL such as https://example.com/pages/",
				Words: []*string{&p.Below}},
		}}
	return block.Unmarshal(d)
}

func (p *Pages) String() string { return "pages " + p.Directory }

func (p *Pages) Read(_ context.Context, add func(resolver.Rule)) (version string, err error) {
	files, err := os.ReadDir(p.Directory)
	if err != nil {
		return "", err
	}
	for _, file := range files {
		add(resolver.Rule{
			Key:      strings.TrimSuffix(file.Name(), ".html"),
			Value:    p.Below + file.Name(),
			Position: resolver.Position{Source: p.String()},
		})
		version += file.Name() + "\n"
	}
	return version, nil
}

func (p *Pages) Watch(ctx context.Context, version string, changed func()) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(2 * time.Second):
		}
		now, err := p.Read(ctx, func(resolver.Rule) {})
		if err != nil {
			now = "it cannot be read"
		}
		if now != version {
			version = now
			changed()
		}
	}
}

var _ source.Source = (*Pages)(nil)

// A handler reads the block, provisions the source, reads it, and watches it. Here it is read once.
func ExampleSource() {
	directory, err := os.MkdirTemp("", "pages")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(directory)
	for _, name := range []string{"guide.html", "plans.html"} {
		if err := os.WriteFile(filepath.Join(directory, name), nil, 0o600); err != nil {
			fmt.Println(err)
		}
	}
	pages := new(Pages)
	err = pages.UnmarshalCaddyfile(caddyfile.NewTestDispenser(
		"pages " + directory + " {\n below https://example.com/pages/\n}"))
	if err != nil {
		fmt.Println(err)
	}
	_, err = pages.Read(context.Background(), func(rule resolver.Rule) {
		fmt.Println(rule.Key, rule.Value)
	})
	fmt.Println("error:", err)
	// Output:
	// guide https://example.com/pages/guide.html
	// plans https://example.com/pages/plans.html
	// error: <nil>
}
