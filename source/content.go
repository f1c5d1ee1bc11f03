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

// content reads rules from the bytes of a file or a storage entry. One read parses, hashes and
// verifies the same bytes.
type content struct {
	name      string
	format    rulefile.Format
	reading   rulefile.Reading
	publicKey *minisign.PublicKey // nil if no signature is required
	// allowsEmpty says that CSV or _redirects of no bytes is valid. JSON never is.
	allowsEmpty bool
	// read calls a function with the content.
	read func(context.Context, func(io.Reader) error) error
	// signature and expectations return what lies beside the content; nil if that is not
	// configured.
	signature, expectations func(context.Context) ([]byte, error)
	expectName              string // the name of the expectations

	seen     lastSeen // the state in which the content was seen last
	reach    Reachability
	rejected atomic.Pointer[rejectedStart] // by the last reading; nil if it reached the end
	// expected and warnings are those of the last reading.
	expected PlacedExpectations
	warnings []lint.Warning
	current  *reading // the reading that passes rules, or nil
	// bytesRead is how many bytes the last such reading has read.
	bytesRead int64
}

// done returns how many bytes the reading that passes rules has read so far.
func (c *content) done() int64 {
	if c.current == nil {
		return c.bytesRead
	}
	return c.current.n
}

// rejectedStart identifies the beginning of content that is invalid whatever follows, so that the
// rest is not read.
type rejectedStart struct {
	length int64
	digest uint64
}

// siblings are the contents of the files or entries beside the content.
type siblings struct{ signature, expectations []byte }

// rules passes the rules to add, and returns their version.
func (c *content) rules(
	ctx context.Context, add func(resolver.Rule),
) (version string, err error) {
	c.expected, c.warnings, c.bytesRead = PlacedExpectations{}, nil, 0
	var wrong error
	version, err = c.readAll(ctx, c.read, nil, func(r *reading, beside siblings) bool {
		c.current = r
		if wrong = c.parse(r, beside.signature, add); wrong == nil {
			c.expected, wrong = parseExpectations(beside.expectations, c.expectName)
		}
		return c.recordRejected(r, wrong)
	})
	if c.current != nil {
		c.bytesRead, c.current = c.current.n, nil
	}
	c.note(ctx, err)
	c.seen.see(stateOf(version, err))
	if err != nil {
		// Errors of content that was not read to its end mean nothing.
		return "", err
	}
	return version, wrong
}

// state returns the state of the content now, for a poll to compare.
func (c *content) state(ctx context.Context) string {
	version, err := c.readAll(ctx, c.read, pace.New().Pause, func(r *reading, _ siblings) bool {
		return c.isRejected(r)
	})
	c.note(ctx, err)
	return stateOf(version, err)
}

// locate passes the rules to seen if the content has this version; see [Annotated].
func (c *content) locate(
	ctx context.Context, version string, seen func(resolver.Rule),
) (isThere bool) {
	if c.publicKey != nil {
		return false // nothing is parsed that is not verified
	}
	var wrong error
	now, err := c.readAll(ctx, c.read, pace.New().Pause, func(r *reading, _ siblings) bool {
		_, wrong = readAs(r, c.format, c.lending(), c.name, "format", seen)
		return wrong != nil
	})
	return err == nil && wrong == nil && now == version
}

// recordRejected records the beginning of content that is wrong, and reports whether the rest need
// not be read.
func (c *content) recordRejected(r *reading, wrong error) bool {
	if wrong == nil || r.err != nil {
		c.rejected.Store(nil)
		return false // a longer text could be right
	}
	c.rejected.Store(&rejectedStart{r.n, r.digest()})
	return true
}

// isRejected reports whether the content begins like what was rejected before.
func (c *content) isRejected(r *reading) bool {
	rejected := c.rejected.Load()
	if rejected == nil {
		return false
	}
	_, err := io.CopyN(io.Discard, r, rejected.length)
	return err == nil && r.digest() == rejected.digest
}

// note records whether the content could be read.
func (c *content) note(ctx context.Context, err error) {
	switch {
	case err == nil:
		c.reach.Succeed()
	case ctx.Err() == nil && !errors.Is(err, ErrBeingWritten):
		c.reach.Fail(err)
	}
}

// stateOf returns what a poll compares: the version, or the error that kept the content from being
// read.
func stateOf(version string, err error) string {
	if err != nil {
		return err.Error()
	}
	return version
}

// readAll reads the content, which read passes, and what lies beside it, and returns a digest of
// all: the version. use receives both, and reports whether the rest can be skipped. An error is one
// of reading. pause, if not nil, is called after each piece.
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

// writable returns why the content cannot be edited, or nil: only the holder of the key can sign an
// edit.
func (c *content) writable() error {
	if c.publicKey != nil {
		return errors.New("it is signed, so an edit would need a new signature")
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

// parse reads the rules, and verifies the signature if they are valid.
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

// signatureProblem returns why a signature is not valid.
func (c *content) signatureProblem(text []byte) error {
	var s minisign.Signature
	if s.UnmarshalText(text) == nil && s.Algorithm == minisign.EdDSA && s.KeyID == c.publicKey.ID() {
		return errors.New("its signature is in minisign's old format, which signs the content " +
			"and not its hash; sign it again with minisign -Sm, of version 0.10 or later and without -l")
	}
	return errors.New("its signature does not match this content and the configured key; " +
		"sign it with minisign -Sm, of version 0.10 or later")
}

// lending returns how the content is read by a caller that does not retain its strings.
func (c *content) lending() rulefile.Reading {
	as := c.reading
	as.Lends = true
	return as
}

// parseRules reads the rules from signed, which reads from r, to the end if they are valid.
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

// errEmpty returns the error of empty content, which is hardly ever meant.
func errEmpty(f rulefile.Format) error {
	if f == rulefile.JSON {
		return errors.New("it is empty; a file without rules is written {}")
	}
	return errors.New("it is empty; write a rule or, if it may be empty, allow_empty into the " +
		"block of the source")
}

// parseExpectations parses a JSON object from request path to expectation; name is that of its file
// or entry.
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
			report(entry, "is given twice")
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

// reading counts and hashes what is read, until a context ends or an error occurs.
type reading struct {
	ctx   context.Context
	r     io.Reader
	sum   maphash.Hash // of the bytes read
	n     int64
	pause func() // nil for none
	err   error
}

// contentSeed is the seed of all versions in this process, because several sources can read one
// file. A seeded hash suffices, because nobody else sees one, and takes a thirtieth of the time of
// SHA-256.
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

// digest returns the digest of the bytes read so far.
func (c *reading) digest() uint64 { return c.sum.Sum64() }

// version returns the version of the content that was read and of its siblings.
func (c *reading) version(beside siblings) string {
	fmt.Fprintf(&c.sum, "\n%d\n", len(beside.signature))
	c.sum.Write(beside.signature)
	c.sum.Write(beside.expectations)
	return strconv.FormatInt(c.n, 10) + "-" + strconv.FormatUint(c.sum.Sum64(), 16)
}
