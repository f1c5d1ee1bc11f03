package lists

import (
	"cmp"
	"io"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/resolver"
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
		readBucket(t, member(v, "websiteconfiguration"))
		for _, resource := range member(v, "resources").Inside() {
			readBucket(t, member(member(resource, "properties"), "websiteconfiguration"))
		}
	}
	if t.Entries() == 0 && err == nil {
		t.Remark("there are neither RoutingRules nor redirects of s3_website in the file")
	}
	return err
}

// member returns the member of an object with a plain name.
func member(v migrate.Node, name string) migrate.Node {
	for key, m := range v.Inside() {
		if plainName(key) == name {
			return m
		}
	}
	return migrate.Node{}
}

// plainName returns the name of a member as S3 has it, in lower case: CloudFormation and s3_website
// have their own.
func plainName(key migrate.Node) string { return otherNames.Replace(strings.ToLower(key.Text)) }

var otherNames = strings.NewReplacer("_", "", "redirectrule", "redirect", "routingrulecondition",
	"condition")

// readBucket reads the configuration of a bucket, or a list of its rules. Routing rules precede
// the redirects of objects, because S3 looks for an object later.
func readBucket(t *migrate.Table, v migrate.Node) {
	rules := v
	if v.Kind == '{' {
		rules = member(v, "routingrules")
	}
	for _, rule := range rules.Inside() {
		addRoutingRule(t, rule.At, member(rule, "condition"), member(rule, "redirect"))
	}
	if all := member(v, "redirectallrequeststo"); all.Kind == '{' {
		addRoutingRule(t, all.At, migrate.Node{}, all)
	}
	for key, to := range member(v, "redirects").Inside() {
		t.AddPath(redirects.Line{At: to.At, To: redirects.Literal(to.Text)}, key.Text, false)
	}
}

// addRoutingRule adds the line of a routing rule. It matches keys, which have no slash in front, by
// the characters that they begin with.
func addRoutingRule(t *migrate.Table, at resolver.Position, condition, redirect migrate.Node) {
	o := &object{t, redirect, redirects.Line{At: at}}
	said := o.readRoutingRule(condition, redirect)
	prefix, hasPrefix := said["keyprefixequals"]
	key, hasKey := said["replacekeywith"]
	with, hasWith := said["replacekeyprefixwith"]
	host, protocol, origin := said["hostname"], said["protocol"], ""
	switch {
	case redirect.Kind != '{':
		o.refuse("a routing rule has a Redirect, and this one has none; add it")
	case condition.Kind != 0 && !hasPrefix || strings.HasPrefix(prefix, "/"):
		o.refuse("a Condition has KeyPrefixEquals without \"/\" in front, as no key of S3 begins with it")
	case host == "" && protocol != "":
		o.refuse("a rule does not change the scheme alone; Caddy redirects to https by itself")
	case host != "":
		origin = cmp.Or(protocol, "https") + "://" + host
	}
	if host != "" && protocol == "" {
		o.line.Notes = []string{"S3 keeps the scheme of a request, and the rule leads to https"}
	}
	if !hasWith {
		with = redirects.Encoded(prefix)
	}
	o.line.To = redirects.WithRest(origin + "/" + strings.TrimPrefix(with, "/"))
	if hasKey {
		o.line.To = redirects.Literal(origin + "/" + strings.TrimPrefix(key, "/"))
	}
	t.AddPath(o.line, redirects.Encoded(prefix), true)
}

// readRoutingRule returns the texts of a routing rule by plain names. It sets the status.
func (o *object) readRoutingRule(condition, redirect migrate.Node) map[string]string {
	said := map[string]string{}
	for _, part := range []migrate.Node{condition, redirect} {
		for key, m := range part.Inside() {
			name := plainName(key)
			switch said[name] = m.Text; {
			case name == "httperrorcodereturnedequals":
				o.refuse("a rule does not know the error that a request would get; use Caddy's " +
					"handle_errors")
			case name == "httpredirectcode":
				setStatus(&o.line, m)
			case m.Kind != '"':
				o.refuse("a routing rule has texts in quotation marks, not %s", m)
			}
		}
	}
	return said
}
