package lists

import (
	"cmp"
	"errors"
	"io"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
)

// ReadS3 reads how a bucket of S3 redirects: its routing rules in XML or JSON, a template of
// CloudFormation with them, or an s3_website.yml.
func ReadS3(t *migrate.Table, r io.Reader) error {
	text, err := t.ReadText(r)
	if err != nil {
		return err
	}
	t.Program, t.Slashes, t.Status = "S3", redirects.SlashesMerged, cmp.Or(t.Status, 301)
	decode := t.DecodeYAML
	switch begin := strings.TrimSpace(text); {
	case strings.HasPrefix(begin, "<"):
		decode = t.DecodeXML
	case strings.HasPrefix(begin, "{") || strings.HasPrefix(begin, "["):
		decode = t.DecodeJSON
	}
	values, err := decode(text)
	for _, v := range values.Inside() {
		readBucket(t, v)
		readBucket(t, member(v, "WebsiteConfiguration"))
		for _, resource := range member(v, "Resources").Inside() {
			readBucket(t, member(member(resource, "Properties"), "WebsiteConfiguration"))
		}
	}
	if t.Entries() == 0 && err == nil {
		t.Remark("there are neither RoutingRules nor redirects of s3_website in the file")
	}
	return err
}

// member returns the first member of an object that has one of the names in any case, such as
// routing_rules for RoutingRules.
func member(v migrate.Node, names ...string) migrate.Node {
	for key, m := range v.Inside() {
		for _, name := range names {
			if strings.EqualFold(strings.ReplaceAll(key.Text, "_", ""), name) {
				return m
			}
		}
	}
	return migrate.Node{}
}

// readBucket reads the configuration of a bucket, or a list of its rules. Routing rules precede
// the redirects of objects, because S3 looks for an object later.
func readBucket(t *migrate.Table, v migrate.Node) {
	rules := v
	if v.Kind == '{' {
		rules = member(v, "RoutingRules")
	}
	for _, rule := range rules.Inside() {
		redirect := member(rule, "Redirect", "RedirectRule")
		switch {
		case t.IsGivenUp(rule.At):
			return
		case redirect.Kind != '{':
			t.Wrong(rule.At, "a routing rule has a Redirect, and this one has none; add it")
		default:
			addRoutingRule(t, redirects.Line{At: rule.At},
				member(rule, "Condition", "RoutingRuleCondition"), redirect)
		}
	}
	if all := member(v, "RedirectAllRequestsTo"); all.Kind == '{' {
		addRoutingRule(t, redirects.Line{At: all.At}, migrate.Node{}, all)
	}
	for key, to := range member(v, "redirects").Inside() {
		t.AddPath(redirects.Line{At: to.At, To: redirects.Literal(to.Text)}, key.Text, false)
	}
}

// addRoutingRule adds the line of a routing rule. It matches keys, which have no slash in front, by
// the characters that they begin with.
func addRoutingRule(t *migrate.Table, line redirects.Line, condition, redirect migrate.Node) {
	prefix, host := member(condition, "KeyPrefixEquals"), member(redirect, "HostName")
	protocol, origin := member(redirect, "Protocol"), ""
	key, with := member(redirect, "ReplaceKeyWith"), member(redirect, "ReplaceKeyPrefixWith")
	for _, m := range []migrate.Node{prefix, host, protocol, key, with} {
		if m.Kind != 0 && m.Kind != '"' {
			line.Refused = errors.New("a routing rule has texts in quotation marks, not " + m.String())
		}
	}
	setStatus(&line, member(redirect, "HttpRedirectCode"))
	switch {
	case line.Refused != nil:
	case member(condition, "HttpErrorCodeReturnedEquals").Kind != 0:
		line.Refused = errors.New("a rule does not know the error that a request would get; use " +
			"Caddy's handle_errors")
	case condition.Kind != 0 && prefix.Kind == 0:
		line.Refused = errors.New("the Condition has no KeyPrefixEquals; add it")
	case strings.HasPrefix(prefix.Text, "/"):
		line.Refused = errors.New("no key of S3 begins with \"/\"; remove it from KeyPrefixEquals")
	case host.Text == "" && protocol.Text != "":
		line.Refused = errors.New("a rule does not change the scheme alone; Caddy redirects to https " +
			"by itself")
	case host.Text != "":
		origin = cmp.Or(protocol.Text, "https") + "://" + host.Text
		if protocol.Text == "" {
			line.Notes = []string{"S3 keeps the scheme of a request, and the rule leads to https"}
		}
	}
	switch {
	case key.Kind != 0:
		line.To = redirects.Literal(origin + "/" + strings.TrimPrefix(key.Text, "/"))
	case with.Kind != 0:
		line.To = redirects.WithRest(origin + "/" + strings.TrimPrefix(with.Text, "/"))
	default:
		line.To = redirects.WithRest(origin + "/" + redirects.Encoded(prefix.Text))
	}
	t.AddPath(line, redirects.Encoded(prefix.Text), true)
}
