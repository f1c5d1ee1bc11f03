package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"strconv"
	"sync/atomic"

	"aead.dev/minisign"

	"github.com/caddy-shortlink/shortlink/internal/pace"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// content reads rules from the bytes of a file or a storage entry: those that are parsed are those
// that are hashed and verified, in one read.
type content struct {
	name      string
	format    rulefile.Format
	reading   rulefile.Reading
	publicKey *minisign.PublicKey // nil where no signature is wanted
	// allowsEmpty tells that no rules are nothing unusual.
	allowsEmpty bool
	// read passes the content to a function.
	read func(context.Context, func(io.Reader) error) error
	// signature and expectations return what lies beside the content; nil where that is not wanted.
	signature, expectations func(context.Context) ([]byte, error)
	expectName              string // of what holds the expectations

	seen    lastSeen // the state in which the content was seen last
	reach   Reachability
	refused atomic.Pointer[refusal] // of the last reading; nil if it went to the content's end
	// warnings are those of the rules that were read last.
	warnings []lint.Warning
	current  *reading // that passes rules, nil for none
	// bytesRead is how many bytes the last reading that passed rules has read.
	bytesRead int64
}

// done returns how many bytes the reading that passes rules has read.
func (c *content) done() int64 {
	if c.current == nil {
		return c.bytesRead
	}
	return c.current.n
}

// refusal is the beginning of content that is enough to know that it holds no rules: whatever
// follows it is refused, too, and is not read.
type refusal struct {
	length int64
	digest uint64
}

// contentOptions are the options in the Caddyfile of a source of such content, by where they go.
// The content's name may tell its format.
func contentOptions(
	name, format, poll, expect, publicKey *string, allowEmpty *bool, redirects *RedirectsOptions,
) []BlockOption {
	return append([]BlockOption{
		{Name: "format", Words: []*string{format}, Check: func() error {
			_, err := rulefile.ParseFormat(*format)
			return err
		}},
		PollOption(poll),
		{Name: "expect", Words: []*string{expect}},
		{Name: "minisign", Words: []*string{publicKey}, Check: func() error {
			_, err := parsePublicKey(*publicKey)
			return err
		}},
		{Name: "allow_empty", Takes: "stands alone", Flag: allowEmpty},
	}, redirects.block(format, name)...)
}

// siblings lie beside the content.
type siblings struct{ signature, expectations []byte }

// rules passes the rules to add, and returns their expectations and their version.
func (c *content) rules(
	ctx context.Context, add func(resolver.Rule),
) (expected PlacedExpectations, version string, err error) {
	c.warnings, c.bytesRead = nil, 0
	var wrong error
	version, err = c.readAll(ctx, c.read, nil, func(r *reading, beside siblings) bool {
		c.current = r
		if wrong = c.parse(r, beside.signature, add); wrong == nil {
			expected, wrong = parseExpectations(beside.expectations, c.expectName)
		}
		return c.noteRefusal(r, wrong)
	})
	if c.current != nil {
		c.bytesRead, c.current = c.current.n, nil
	}
	c.note(ctx, err)
	c.seen.see(stateOf(version, err))
	if err != nil {
		// What is wrong with content that was not read to its end means nothing.
		return PlacedExpectations{}, "", err
	}
	return expected, version, wrong
}

// state returns what a poll compares, of the content as it is now.
func (c *content) state(ctx context.Context) string {
	version, err := c.readAll(ctx, c.read, pace.New().Pause, func(r *reading, _ siblings) bool {
		return c.isRefused(r)
	})
	c.note(ctx, err)
	return stateOf(version, err)
}

// locate passes the rules to seen, if the content is that of a version; see [Annotated].
func (c *content) locate(
	ctx context.Context, version string, seen func(resolver.Rule),
) (isThere bool) {
	if c.publicKey != nil {
		return false // as nothing is read that is not verified
	}
	var wrong error
	now, err := c.readAll(ctx, c.read, pace.New().Pause, func(r *reading, _ siblings) bool {
		_, wrong = readAs(r, c.format, c.lending(), c.name, "format", seen)
		return wrong != nil
	})
	return err == nil && wrong == nil && now == version
}

// noteRefusal reports whether content that is wrong need not be read on, and remembers how it
// begins.
func (c *content) noteRefusal(r *reading, wrong error) bool {
	if wrong == nil || r.err != nil {
		c.refused.Store(nil)
		return false // a longer text could be right
	}
	c.refused.Store(&refusal{r.n, r.digest()})
	return true
}

// isRefused reports whether the content begins like what was refused before.
func (c *content) isRefused(r *reading) bool {
	refused := c.refused.Load()
	if refused == nil {
		return false
	}
	_, err := io.CopyN(io.Discard, r, refused.length)
	return err == nil && r.digest() == refused.digest
}

// note notes whether the content could be read.
func (c *content) note(ctx context.Context, err error) {
	switch {
	case err == nil:
		c.reach.Succeed()
	case ctx.Err() == nil && !errors.Is(err, ErrBeingWritten):
		c.reach.Fail(err)
	}
}

// stateOf returns what a poll compares: the version, or what keeps the content from being read.
func stateOf(version string, err error) string {
	if err != nil {
		return err.Error()
	}
	return version
}

// readAll reads the content, which read passes, and what lies beside it, and returns a digest of
// all: the version. use sees both, and reports whether the rest makes no difference. An error is
// one of reading. pause, if not nil, is called after each piece.
func (c *content) readAll(
	ctx context.Context, read func(context.Context, func(io.Reader) error) error, pause func(),
	use func(*reading, siblings) (enough bool),
) (version string, err error) {
	beside, err := c.readSiblings(ctx)
	if err != nil {
		return "", err
	}
	var hashed *reading
	err = read(ctx, func(r io.Reader) error {
		hashed = newReading(ctx, r, pause)
		if use(hashed, beside) {
			return nil
		}
		_, err := io.Copy(io.Discard, hashed)
		return err
	})
	if err != nil {
		return "", err
	}
	return hashed.version(beside), nil
}

// writable returns why the content cannot be edited, or nil: only the holder of the key can sign it
// anew.
func (c *content) writable() error {
	if c.publicKey != nil {
		return errors.New("it is signed, so whoever edits it has to sign it, too")
	}
	return nil
}

func (c *content) readSiblings(ctx context.Context) (beside siblings, err error) {
	if c.signature != nil {
		if beside.signature, err = c.signature(ctx); err != nil {
			return beside, fmt.Errorf("its signature: %w", err)
		}
	}
	if c.expectations != nil {
		if beside.expectations, err = c.expectations(ctx); err != nil {
			return beside, fmt.Errorf("its expectations: %w", err)
		}
	}
	return beside, nil
}

// parse reads the rules, to the end of the content if they are right, and verifies the signature.
func (c *content) parse(r *reading, signature []byte, add func(resolver.Rule)) error {
	if c.publicKey == nil {
		return c.parseRules(r, r, add)
	}
	signed := minisign.NewReader(r)
	if err := c.parseRules(r, signed, add); err != nil {
		return err
	}
	if !signed.Verify(*c.publicKey, signature) {
		return c.signatureProblem(signature)
	}
	return nil
}

// signatureProblem says why a signature does not count.
func (c *content) signatureProblem(text []byte) error {
	var s minisign.Signature
	if s.UnmarshalText(text) == nil && s.Algorithm == minisign.EdDSA && s.KeyID == c.publicKey.ID() {
		return errors.New("its signature has minisign's old form, of the content and not of its hash; " +
			"sign it again with minisign -Sm, of version 0.10 or later and without -l")
	}
	return errors.New("its signature is none of this content by the configured key; " +
		"sign it with minisign -Sm, of version 0.10 or later")
}

// lending is how the content is read, by who keeps no texts.
func (c *content) lending() rulefile.Reading {
	as := c.reading
	as.Lends = true
	return as
}

// parseRules reads the rules from signed, which reads from r, to the end of the content if they are
// right.
func (c *content) parseRules(r *reading, signed io.Reader, add func(resolver.Rule)) error {
	var err error
	c.warnings, err = readAs(signed, c.format, c.lending(), c.name, "format", add)
	if r.n == 0 && (c.format == rulefile.JSON || !c.allowsEmpty) {
		return errEmpty(c.format)
	}
	if err == nil {
		_, err = io.Copy(io.Discard, signed)
	}
	return err
}

// errEmpty is the error of content that has been emptied, which is hardly ever meant.
func errEmpty(f rulefile.Format) error {
	if f == rulefile.JSON {
		return errors.New("it is empty; a file without rules is written {}")
	}
	return errors.New("it is empty; write a rule, or, if it may be empty, allow_empty into the " +
		"block of the source")
}

// parseExpectations reads a JSON object from request path to expectation, of a file or entry of a
// name.
func parseExpectations(b []byte, name string) (expected PlacedExpectations, err error) {
	if b == nil {
		return expected, nil
	}
	expected = PlacedExpectations{Expectations{}, make(map[string]resolver.Position)}
	var wrong []error
	report := func(entry resolver.Rule, what string) {
		message := fmt.Sprintf("the request path %q %s", entry.Key, what)
		wrong = append(wrong, Problem{At: entry.Position, Message: message})
	}
	err = rulefile.ReadExpectations(bytes.NewReader(b), name, func(entry resolver.Rule) {
		if _, known := expected.at[entry.Key]; known {
			report(entry, "stands twice")
		}
		if !entry.IsPlain() {
			report(entry, "has more than one word for what is expected: a destination, pass, gone or "+
				"error")
		}
		expected.Expectations[entry.Key], expected.at[entry.Key] = entry.Value, entry.Position
	})
	if err = errors.Join(err, errors.Join(wrong...), expected.problems()); err != nil {
		return PlacedExpectations{}, fmt.Errorf("its expectations: %w", err)
	}
	return expected, nil
}

// reading counts and hashes what is read, until a context ends or an error ends it.
type reading struct {
	ctx   context.Context
	r     io.Reader
	sum   maphash.Hash // of what is read
	n     int64
	pause func() // nil for none
	err   error
}

// contentSeed is that of all versions in this process: several sources can be of one file. A hash
// with a seed is enough, as nobody else sees one, and takes a thirtieth of SHA-256's time.
var contentSeed = maphash.MakeSeed()

func newReading(ctx context.Context, r io.Reader, pause func()) *reading {
	hashed := &reading{ctx: ctx, r: r, pause: pause}
	hashed.sum.SetSeed(contentSeed)
	return hashed
}

// Read reads from r.
func (c *reading) Read(p []byte) (int, error) {
	if c.err == nil {
		c.err = c.ctx.Err()
	}
	if c.err != nil {
		return 0, c.err
	}
	var n int
	n, c.err = c.r.Read(p)
	c.n += int64(n)
	c.sum.Write(p[:n])
	if c.pause != nil {
		c.pause()
	}
	return n, c.err
}

// digest returns the digest of what has been read until now.
func (c *reading) digest() uint64 { return c.sum.Sum64() }

// version returns the version of content that has been read, and of what lies beside it.
func (c *reading) version(beside siblings) string {
	fmt.Fprintf(&c.sum, "\n%d\n", len(beside.signature))
	c.sum.Write(beside.signature)
	c.sum.Write(beside.expectations)
	return strconv.FormatInt(c.n, 10) + "-" + strconv.FormatUint(c.sum.Sum64(), 16)
}
