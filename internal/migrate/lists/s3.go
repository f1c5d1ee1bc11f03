package lists

import (
	"cmp"
	"io"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// ReadS3 reads how a bucket of S3 redirects: its routing rules in XML or JSON, the template of
// CloudFormation that has them, or an s3_website.yml.
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
		readBucket(t, memberOf(v, "WebsiteConfiguration"))
		for _, resource := range memberOf(v, "Resources").Inside() {
			readBucket(t, memberOf(memberOf(resource, "Properties"), "WebsiteConfiguration"))
		}
	}
	if t.Entries() == 0 && err == nil {
		t.Remark("there are neither RoutingRules nor redirects of s3_website in the file")
	}
	return err
}

// readBucket reads the configuration of a bucket, or a list of its rules. A routing rule precedes
// the redirects that objects have, because S3 looks for an object later.
func readBucket(t *migrate.Table, v migrate.Node) {
	rules := v
	if v.Kind == '{' {
		rules = memberOf(v, "RoutingRules")
	}
	for _, rule := range rules.Inside() {
		addRoutingRule(t, rule.At, either(rule, "Condition", "RoutingRuleCondition"),
			either(rule, "Redirect", "RedirectRule"))
	}
	if all := memberOf(v, "RedirectAllRequestsTo"); all.Kind != 0 {
		addRoutingRule(t, all.At, migrate.Node{}, all)
	}
	for key, to := range memberOf(v, "redirects").Inside() {
		line := redirects.Line{At: to.At, To: redirects.Literal(to.Text)}
		t.AddPath(line, key.Text, false)
	}
}

// either returns the member that has one of two names.
func either(v migrate.Node, name, other string) migrate.Node {
	if m := memberOf(v, name); m.Kind != 0 {
		return m
	}
	return memberOf(v, other)
}

// addRoutingRule adds the line of a routing rule. It matches keys, which have no slash in front, by
// the characters that they begin with.
func addRoutingRule(t *migrate.Table, at resolver.Position, condition, redirect migrate.Node) {
	o, line := &object{Node: redirect, table: t}, redirects.Line{}
	o.At = at
	prefix := memberOf(condition, "KeyPrefixEquals").Text
	origin, protocol := o.text("HostName"), o.text("Protocol")
	o.answer(&line, "HttpRedirectCode")
	switch {
	case origin != "" && protocol == "":
		line.Notes = []string{"S3 keeps the scheme of a request, and the rule leads to https"}
		fallthrough
	case origin != "":
		origin = cmp.Or(protocol, "https") + "://" + origin
	case protocol != "":
		o.refuse("a rule does not change the scheme alone; Caddy redirects to https by itself")
	}
	switch {
	case memberOf(condition, "HttpErrorCodeReturnedEquals").Kind != 0:
		o.refuse("a rule does not know the error that a request would get; use Caddy's handle_errors")
	case strings.HasPrefix(prefix, "/"):
		o.refuse("no key of S3 begins with \"/\"; remove it from KeyPrefixEquals")
	}
	key, with := o.text("ReplaceKeyWith"), prefix
	if o.member("ReplaceKeyPrefixWith").Kind != 0 {
		with = o.text("ReplaceKeyPrefixWith")
	}
	line.To = redirects.WithRest(origin + "/" + strings.TrimPrefix(with, "/"))
	if key != "" {
		line.To = redirects.Literal(origin + "/" + strings.TrimPrefix(key, "/"))
	}
	o.add(line, redirects.Encoded(prefix), "", true)
}
