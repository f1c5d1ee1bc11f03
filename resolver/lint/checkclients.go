package lint

import (
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// checkClients reports what happens to clients that a rule redirects to the site: they never
// arrive, or they are redirected again. Three requests stand for all: the rule's resolver.Sample,
// the sample with a slash, and something below it. That is enough: from the URLs of any circle,
// remove the shortest path that one of its rules appends. The rest is a circle, too, in which that
// rule gets one of the three requests.
func (c *checker) checkClients(rule resolver.Rule, s resolver.Sample, destination string) {
	if !isInternal(destination) && !c.site.has(destination) {
		return
	}
	below := []string{"", "/", "/" + resolver.AnySegment}
	if rule.Exact {
		below = below[:2]
	}
	var met visit // what comes after the rule's own redirect
	for _, behind := range below {
		circle, second := c.follow(c.site.origin + s.Path() + behind)
		if behind == "" {
			met = second
		}
		if circle != nil {
			c.reportCircle(rule, s, circle)
			return
		}
	}
	if !isInternal(rule.Value) {
		c.reportMeeting(rule, s, met)
	}
}

func (c *checker) reportCircle(rule resolver.Rule, s resolver.Sample, urls []string) {
	for i, url := range urls {
		urls[i] = s.Named(url)
	}
	c.circles[rule.Key] = true
	c.report(Finding{
		Warning:  about(rule, FindCircle, circleMessage(urls)),
		Severity: SeverityError, URLs: urls,
	})
}

// reportMeeting reports what clients meet at the URL of the site to which a rule leads. Warnings
// report the paths at which chains end.
func (c *checker) reportMeeting(rule resolver.Rule, s resolver.Sample, met visit) {
	where := "clients are redirected to " + s.Named(met.url) + ", where the key " +
		quote(met.result.Key)
	switch met.result.Outcome {
	case resolver.Redirect:
		destination := s.Named(met.destination)
		c.report(Finding{
			Warning: about(rule, FindAgain, where+" redirects them again, to "+destination+
				"; lead the rule there"+c.insteadOfSite(rule, met.result)),
			Severity: SeverityNote, Destination: destination,
		})
	case resolver.Failed:
		c.find(SeverityWarning, FindFailing, rule, where+" answers with an error: "+
			met.result.Err.Error()+"; change the destination of this rule")
	}
}

// insteadOfSite suggests the path of a URL of the site as the destination, because its chain leads
// clients to the end at once. It does so if the path is valid, and if requests below the rule's key
// lead to the same places.
func (c *checker) insteadOfSite(rule resolver.Rule, second resolver.Result) string {
	path := behindHost(rule.Value)
	other, _ := c.Numbered(second.Rule)
	isGood := isInternal(path) && resolver.CheckValue(path) == nil
	if !isGood || other.Exact && !rule.Exact {
		return ""
	}
	return ", or write " + path
}

func circleMessage(urls []string) string {
	if urls[0] == urls[len(urls)-1] {
		return "clients are redirected in a circle: " + strings.Join(urls, " -> ") + "; change " +
			"the destination of one of the rules"
	}
	return "clients are redirected more than " + strconv.Itoa(clientRedirects) + " times, and " +
		"give up: " + strings.Join(urls[:3], " -> ") +
		" and so on; change the destination of one of the rules"
}

// clientRedirects is how many redirects a client follows before it gives up: 20, by the Fetch
// Standard (HTTP-redirect fetch).
const clientRedirects = 20

// follow acts like a client that follows a URL of the site. If it ends in a circle, it returns the
// URLs from the first one that is repeated, or all URLs if the client gives up earlier. It returns
// nil if the client arrives. It also returns the second request, if that is to the site.
func (c *checker) follow(url string) (circle []string, second visit) {
	seen := []string{url}
	for n := range clientRedirects + 1 {
		this := c.visit(url)
		if n == 1 {
			second = this
		}
		if this.result.Outcome != resolver.Redirect || !c.site.has(this.destination) {
			return nil, second
		}
		url, _, _ = strings.Cut(this.destination, "#")
		first := slices.Index(seen, url)
		if seen = append(seen, url); first >= 0 {
			return seen[first:], second
		}
	}
	return seen, second
}

// visit is a client's request for a URL, and the answer of the site.
type visit struct {
	url, destination string
	result           resolver.Result
}

// visit requests a URL from the site.
func (c *checker) visit(url string) visit {
	made, known := c.visits.byURL[url]
	if !known {
		made.url = url
		made.destination, made.result = c.answer(url)
		c.visits.keep(made)
	}
	return made
}

// visits are requests for long URLs, or redirects to such, by the URL. The time for a request is
// proportional to the length of the URL, and many rules may lead to the same one.
type visits struct {
	byURL map[string]visit
	size  int
}

// In bytes of URLs: the shortest visit that is kept, and the limit of all.
const (
	longVisit  = 1 << 10
	mostVisits = 64 << 20
)

// keep keeps a visit if it is long.
func (v *visits) keep(made visit) {
	size := len(made.url) + len(made.destination)
	if size < longVisit {
		return
	}
	if v.size += size; v.byURL == nil || v.size > mostVisits {
		v.byURL, v.size = map[string]visit{}, size
	}
	v.byURL[made.url] = made
}

// answer returns the answer of the site to a client's request for a URL.
func (c *checker) answer(url string) (destination string, result resolver.Result) {
	req, err := resolver.ParseRequest(url)
	if err != nil {
		return "", resolver.Result{}
	}
	req.OverHTTP = true
	c.destination, result = c.AppendDestination(c.destination[:0], &req)
	return string(c.destination), result
}
