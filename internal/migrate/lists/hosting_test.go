package lists_test

import (
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/migrate/lists"
	"github.com/caddy-shortlink/shortlink/internal/migrate/migratetest"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

func TestRedirectsOfAmplifyBecomeRules(t *testing.T) {
	none := rulefile.Reading{}
	migratetest.CheckAll(t, amplify, []migratetest.Case{
		{"paths", `[{"source": "/a.html", "status": "301", "target": "/b.html", "condition": null},
{"source":"c", "status":"302", "target":"https://x.example/?q=1"}]`, none,
			"a.html,/b.html,301,exact\nc,https://x.example/?q=1,302,exact,,ignore\n", slashesOfPrograms},
		{"variables", `{"customRules": [
{"source":"/docs/<*>","target":"https://d.example/<*>","status":"301"},
{"source":"/u/<name>/<id>","target":"/v/<id>?n=<name>","status":"302"}]}`, none,

			"docs,https://d.example/,301\n" +
				"u/{p1}/{p2},/v/{+p2}?n={p1},302,exact,,ignore\n", slashesOfPrograms},
		{"a regular expression", `[{"source":"</^/blog/([^/]+)/?$/>","target":"/news/$1",
"status":"301"}]`,
			none, "blog/{p1},/news/{+p1},301,exact\n", slashesOfPrograms},
		{"rewrites pass", `[{"source":"/api/<*>","target":"https://api.example/<*>","status":"200"},
{"source":"/<*>","target":"https://new.example/<*>","status":"302"},
{"source":"/<*>","target":"/index.html","status":"404-200"}]`, none,
			"api,pass\n{+splat},https://new.example/{+splat},302\n",
			"file:1:2: the line does not redirect its requests: the next handler answers them\n" +
				"file:2:1: no rule can match \"/\""},
		{"a host", `[{"source":"https://a.example/x","target":"/y","status":"301"},
{"source":"https://b.example/x","target":"/y","status":"301"}]`,
			rulefile.Reading{Hosts: []string{"a.example"}}, "x,/y,301,exact\n",
			"file:2:1: a rule has no host; if \"b.example\" is this site's, name it"},
		{"what no rule can do", `[{"source":"/a","target":"/b","status":"302","condition":"<US>"},
{"source":"/a?id=<x>","target":"/b/<x>","status":"302"},
{"source":"/a/<x>","target":"/b/<y>","status":"302"},
{"source":"</^[^.]+$|\\.(?!(css|js)$)([^.]+$)/>","target":"/index.html","status":"200"},
{"source":"/d","target":"/e","status":"moved"},
{"source":"/d","target":5,"status":"301"}, 7]`, none, "",
			"file:1:2: a rule has no condition such as a country\n" +
				"file:2:1: a rule matches the path alone, which has no \"?\"\n" +
				"file:3:1: <y> is in the target and not in the source; write it in both, or in neither\n" +
				"file:4:1: a regular expression rewrites here; use Caddy's rewrite or try_files\n" +
				"file:5:1: a status is one of 301, 302, 303, 307 or 308, not \"moved\"\n" +
				"file:6:1: \"target\" takes a text, not 5\n" +
				"file:6:44: a redirect is an object, not 7"},
		{"no list", `{"rules": []}`, none, "",
			"file:1:1: there are no redirects here; write them as a list of objects in the member \"customRules\""},
	})
}

func TestRoutesOfAzureBecomeRules(t *testing.T) {
	none := rulefile.Reading{}
	migratetest.CheckAll(t, azure, []migratetest.Case{
		{"routes", `{"routes": [
{"route":"/a","redirect":"/b"},
{"route":"/c","redirect":"https://x.example","statusCode":301},
{"route":"/old/*","redirect":"/new","statusCode":308},
{"route":"/gone","statusCode":410}], "navigationFallback": {}}`, none,
			"a,/b,302,exact\n" +
				"c,https://x.example,301,exact\n" +
				"old,/new,308,exact\n" +
				"old/{+splat},/new,308,exact\n" +
				"gone,gone,,exact\n", slashesOfPrograms},
		{"a route that does not redirect", `{"routes": [
{"route":"/api/*","allowedRoles":["admin"]},
{"route":"/app","rewrite":"/index.html"},
{"route":"/*","redirect":"https://x.example"}]}`, none,
			"api,pass\n" +
				"app,pass,,exact\n" +
				"{+splat},https://x.example,302,exact\n",
			"file:2:1: the line does not redirect its requests: the next handler answers them\n" +
				"file:3:1: the line does not redirect its requests\n" +
				"file:4:1: no rule can match \"/\""},
		{"what no rule can do", `{"routes": [
{"route":"/a","redirect":"/b","methods":["POST"]},
{"route":"/b","redirect":"/b2","allowedRoles":["anonymous", "authenticated"]},
{"route":"/img/*.{png,jpg}","redirect":"/c"},
{"route":"/d","redirect":"e"},
{"route":"/f","statusCode":404}]}`, none, "",
			"file:2:1: a rule redirects everybody by every method\n" +
				"file:3:1: a rule redirects everybody by every method\n" +
				"file:4:1: \"*\" and lists of file extensions within a route have no equivalent; write a rule\n" +
				"file:5:1: \"e\" is not a destination\n" +
				"file:6:1: a rule has no status 404; use Caddy's error"},
	})
}

func TestRoutingRulesOfS3BecomeRules(t *testing.T) {
	none := rulefile.Reading{}
	migratetest.CheckAll(t, s3, []migratetest.Case{
		{"XML", `<?xml version="1.0" encoding="UTF-8"?>
<WebsiteConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
  <RoutingRules>
    <RoutingRule>
      <Condition><KeyPrefixEquals>docs/</KeyPrefixEquals></Condition>
      <Redirect><ReplaceKeyPrefixWith>documents/</ReplaceKeyPrefixWith></Redirect>
    </RoutingRule>
    <RoutingRule>
      <Condition><KeyPrefixEquals>images/</KeyPrefixEquals></Condition>
      <Redirect><Protocol>https</Protocol><HostName>i.example</HostName>
        <ReplaceKeyWith>all.html</ReplaceKeyWith><HttpRedirectCode>302</HttpRedirectCode></Redirect>
    </RoutingRule>
  </RoutingRules>
</WebsiteConfiguration>`, none,
			"docs,/documents/,301\n" +
				"images,https://i.example/all.html,302,exact\n" +
				"images/{+splat},https://i.example/all.html,302,exact\n", slashesOfPrograms},
		{"JSON", `[{"Condition":{"KeyPrefixEquals":"blog"},
"Redirect":{"HostName":"b.example","ReplaceKeyPrefixWith":"news"}}]`, none,
			"blog,https://b.example/news,301,exact\n" +
				"blog/{splat},https://b.example/news/{+splat},301\n" +
				"blog{splat},https://b.example/news{+splat},301\n",
			"file:1:2: S3 keeps the scheme of a request, and the rule leads to https"},
		{"a template of CloudFormation", `{"Resources": {"B": {"Properties": {"WebsiteConfiguration": {
"RoutingRules": [{"RoutingRuleCondition": {"KeyPrefixEquals": "a/"},
"RedirectRule": {"HostName": "a.example", "Protocol": "https"}}]}}},
"R": {"Properties": {"WebsiteConfiguration": {"RedirectAllRequestsTo": {"HostName": "www.example",
"Protocol": "https"}}}}}}`, none,
			"a,https://a.example/a/,301\n" +
				"{+splat},https://www.example/{+splat},301\n", slashesOfPrograms},
		{"s3_website", `s3_bucket: www
redirects:
  index.php: /
  about.php: /about.html
  media/promo: https://v.example/watch?v=1
routing_rules:
  - condition:
      key_prefix_equals: blog/
    redirect:
      host_name: blog.example
      protocol: https
      replace_key_prefix_with: some/
      http_redirect_code: 307
`, none,
			"blog,https://blog.example/some/,307\n" +
				"index.php,/,301,exact\n" +
				"about.php,/about.html,301,exact\n" +
				"media/promo,https://v.example/watch?v=1,301,exact,,ignore\n", slashesOfPrograms},
		{"what no rule can do", `{"RoutingRules": [
{"Condition":{"HttpErrorCodeReturnedEquals":"404"},"Redirect":{"HostName":"a.example"}},
{"Condition":{"KeyPrefixEquals":"a/"},"Redirect":{"Protocol":"https"}},
{"Condition":{"KeyPrefixEquals":"/b/"},"Redirect":{"ReplaceKeyPrefixWith":"c/"}},
{"Condition":{"KeyPrefixEquals":"d/"},"Redirect":{"HostName":{"Ref":"Name"}}},
{"Condition":{"KeyPrefixEquals":"e/"},"Redirect":{"ReplaceKeyWith":"f","HttpRedirectCode":"404"}},
{"Condition":{"KeyPrefixEquals":{"Ref":"Name"}},"Redirect":{"HostName":"a.example"}},
{"Condition":{"KeyPrefix":"g/"},"Redirect":{"HostName":"a.example"}}]}`,
			none, "",
			"file:2:1: a rule does not know the error that a request would get; use Caddy's handle_errors\n" +
				"file:3:1: a rule does not change the scheme alone; Caddy redirects to https by itself\n" +
				"file:4:1: a Condition has KeyPrefixEquals without \"/\" in front\n" +
				"file:5:1: a routing rule has texts in quotation marks, not an object\n" +
				"file:6:1: a rule has no status 404; use Caddy's error\n" +
				"file:7:1: a routing rule has texts in quotation marks, not an object\n" +
				"file:8:1: a Condition has KeyPrefixEquals without"},
		{"what is no routing rule", `<RoutingRules xmlns="http://s3.amazonaws.com/doc/">
<RoutingRule><Condition><KeyPrefixEquals>a/</KeyPrefixEquals></Condition></RoutingRule>
<RoutingRule/></RoutingRules>`, none, "",
			"file:2:1: a routing rule has a Redirect, and this one has none\n" +
				"file:3:1: a routing rule has a Redirect"},
		{"functions of CloudFormation", `Resources:
  B:
    Properties:
      WebsiteConfiguration:
        RedirectAllRequestsTo: {HostName: !Ref Name}
`, none, "", "file:5:32: a routing rule has texts in quotation marks, not Name"},
		{"something else", "a: b\n", none, "",
			"there are neither RoutingRules nor redirects of s3_website in the file"},
		{"no XML", "<RoutingRules>\n<RoutingRule>\n</RoutingRules>", none, "",
			"file:3:1: this is not valid XML: XML syntax error on line 3: element <RoutingRule> closed by </RoutingRules>"},
	})
}

func TestRewriteMapsOfIISBecomeRules(t *testing.T) {
	none := rulefile.Reading{}
	migratetest.CheckAll(t, iis, []migratetest.Case{
		{"maps alone", `<rewriteMaps>
  <rewriteMap name="Moved" defaultValue="">
    <add key="/a.aspx" value="/b" />
    <add key="c" value="https://x.example/?q=1&amp;r=2" />
  </rewriteMap>
</rewriteMaps>`, none,
			"a.aspx,/b,,exact\n" +
				"c,https://x.example/?q=1&r=2,,exact,,ignore\n",
			"of a web.config, only rewriteMaps are read, with the status of the rule that names them; entries of others have the site's, which --status sets; IIS matches keys in either letter case"},
		{"a rule that names the map", `<configuration><system.webServer><rewrite>
<rules><rule name="moved">
<match url=".*" /><conditions><add input="{Moved:{REQUEST_URI}}" pattern="(.+)" /></conditions>
<action type="Redirect" url="{C:1}" appendQueryString="false" redirectType="Found" />
</rule></rules>
<rewriteMaps><rewriteMap name="Moved"><add key="/a" value="/b" /></rewriteMap></rewriteMaps>
</rewrite></system.webServer></configuration>`, none, "a,/b,302,exact,,ignore\n",
			"of a web.config, only rewriteMaps are read, with the status of the rule that names them"},
		{"what no rule can do", `<rewrite><rules><rule>
<action type="Rewrite" url="{Pages:{R:1}}" /></rule></rules>
<rewriteMaps><rewriteMap name="Pages"><add key="/a" value="/b" /></rewriteMap>
<rewriteMap name="Moved">
<add key="/a?id=1" value="/b" />
<add key="/c" value="d" />
<add value="/e" /></rewriteMap></rewriteMaps></rewrite>`, none, "",
			"file:3:39: a rule does not redirect to the values of this map alone; use Caddy's map\n" +
				"file:5:1: a rule matches the path alone, which has no \"?\"\n" +
				"file:6:1: \"d\" is not a destination\n" +
				"file:7:1: a key cannot be empty"},
		{"what a rule puts in front of a value", `<rewrite><rules>
<rule><conditions><add input="{A:{URL}}" pattern="(.+)"/></conditions>
<action type="Redirect" url="https://{HTTP_HOST}{C:1}" redirectType="SeeOther"/></rule>
<rule><action type="Redirect" url="https://b.example/{B:{URL}}"/></rule>
<rule><action type="Redirect" url="{C:{URL}}?x={QUERY_STRING}"/></rule></rules>
<rewriteMaps><rewriteMap name="A"><add key="/a" value="/z" /></rewriteMap>
<rewriteMap name="B"><add key="/b" value="y" /></rewriteMap>
<rewriteMap name="C" defaultValue="/w"><add key="/c" value="/x" /></rewriteMap></rewriteMaps></rewrite>`, none,
			"a,/z,303,exact\nb,https://b.example/y,301,exact\n",
			"file:8:40: a rule does not redirect to the values of this map alone\n" +
				"the default of a map is left out: \"/w\""},
		{"maps in another file", `<rewrite><rewriteMaps configSource="maps.config"/></rewrite>`, none, "",
			"the maps are in the file \"maps.config\"; convert that one"},
	})
}

func TestAnExportOfWordPressRedirectionBecomesRules(t *testing.T) {
	none := rulefile.Reading{}
	migratetest.CheckAll(t, wordpress, []migratetest.Case{
		{"redirects", `{"plugin": {"version": "5"}, "groups": [], "redirects": [
{"id":1,"url":"^/b/(.*)$","regex":true,"action_code":301,"action_type":"url","match_type":"url",
"action_data":{"url":"/n/$1"},"position":9,"enabled":true},
{"id":2,"url":"/b/a/","match_data":{"source":{"flag_query":"pass"}},"action_code":302,
"action_type":"url","action_data":{"url":"https://x.example/?q=1"},"match_type":"url","regex":false,
"position":0,"enabled":true},
{"id":3,"url":"/gone","action_code":410,"action_type":"error","action_data":{"url":""},
"match_type":"url","regex":false,"position":2,"enabled":true},
{"id":4,"url":"/off","action_code":301,"action_type":"url","action_data":{"url":"/on"},
"match_type":"url","regex":false,"position":3,"enabled":false}]}`, none,
			"b/a,https://x.example/?q=1,302,exact,,preserve\n" +
				"gone,gone,,exact\n" +
				"b,/n/,301\n", "file:9:1: the redirect is disabled; enable it for a rule\n" +
				"ignores requests with a query unless a redirect says otherwise"},
		{"what no rule can do", `{"redirects": [
{"url":"/a","action_code":404,"action_type":"error","match_type":"url"},
{"url":"/b","action_code":301,"action_type":"url","action_data":{"url":"/c"},"match_type":"login"},
{"url":"/d","action_code":0,"action_type":"pass","action_data":{"url":"/e"},"match_type":"url"},
{"url":"/f?g=1","action_code":301,"action_type":"url","action_data":{"url":"/h"},"match_type":"url"},
{"url":"/i(","action_code":301,"action_type":"url","action_data":{"url":"/h"},"match_type":"url",
"regex":true},
{"url":"/j","action_code":301,"action_type":"url","action_data":{"url":"k"},"match_type":"url"}]}`,
			none, "",
			"file:2:1: a rule has no status 404; use Caddy's error\n" +
				"file:3:1: a rule matches the path alone, not \"login\"; use Caddy's redir with a matcher\n" +
				"file:4:1: a rule redirects, and has no action \"pass\"; use Caddy's rewrite or error\n" +
				"file:5:1: a rule matches the path alone, which has no \"?\"\n" +
				"file:6:1: in the regular expression, \"^/i(\" is not well-formed\n" +
				"file:8:1: \"k\" is not a destination"},
		{"the query mode of the whole file", `{"redirects": [{"url":"/a","action_code":301,
"action_type":"url","action_data":{"url":"/b"},"match_type":"url"}]}`,
			rulefile.Reading{Query: resolver.QueryPreserve}, "a,/b,301,exact,,preserve\n",
			"rules answer them, too"},
	})
}

func TestRedirectionsOfOpenPublishingBecomeRules(t *testing.T) {
	none := rulefile.Reading{}
	migratetest.CheckAll(t, openPublishing, []migratetest.Case{
		{"files", `{"redirections": [
{"source_path":"docs/a/index.yml","redirect_url":"/b/c","redirect_document_id":false},
{"source_path_from_root":"/docs/d.md","redirect_url":"https://x.example/d#e","monikers":["v1"]},
{"source_path":"docs/f.md","redirect_url":"g"}]}`, none,
			"docs/a,/b/c,301,exact\n" +
				"docs/d,https://x.example/d#e,301,exact\n",
			"file:2:1: the path is that of the file in the repository, \"docs/a/index.yml\"; if its folder\n" +
				"file:3:1: the path is that of the file in the repository, \"/docs/d.md\"\n" +
				"file:4:1: \"g\" is not a destination\n" +
				"members without a meaning here are ignored: \"monikers\""},
	})
}

func FuzzAmplify(f *testing.F) {
	migratetest.Fuzz(f, lists.ReadAmplify,
		`[{"source":"/a/<x>/<*>","target":"/b/<*>?x=<x>","status":"301","condition":null}]`,
		`{"customRules":[{"source":"</^/a/(.*)$/>","target":"/b/$1","status":"302"}]}`)
}

func FuzzAzure(f *testing.F) {
	migratetest.Fuzz(f, lists.ReadAzure, `{"routes":[{"route":"/a/*","redirect":"/b","statusCode":301},`+
		`{"route":"/c","allowedRoles":["anonymous"],"methods":["GET"]}]}`)
}

func FuzzS3(f *testing.F) {
	migratetest.Fuzz(f, lists.ReadS3, "<RoutingRules><RoutingRule><Condition><KeyPrefixEquals>a/"+
		"</KeyPrefixEquals></Condition><Redirect><HostName>x.example</HostName></Redirect></RoutingRule>"+
		"</RoutingRules>", `[{"Redirect":{"ReplaceKeyWith":"b","HttpRedirectCode":"302"}}]`,
		"redirects:\n  a: /b\nrouting_rules:\n- redirect:\n    replace_key_prefix_with: c\n")
}

func FuzzIIS(f *testing.F) {
	migratetest.Fuzz(f, lists.ReadIIS, `<rewrite><rules><rule><action type="Redirect" url="{M:{URL}}"/>`+
		`</rule></rules><rewriteMaps><rewriteMap name="M"><add key="/a" value="/b"/></rewriteMap>`+
		`</rewriteMaps></rewrite>`)
}

func FuzzWordPress(f *testing.F) {
	migratetest.Fuzz(f, lists.ReadWordPress, `{"redirects":[{"url":"^/a/(.*)$","regex":true,`+
		`"action_code":301,"action_type":"url","action_data":{"url":"/b/$1"},"match_type":"url",`+
		`"match_data":{"source":{"flag_query":"pass"}},"position":2,"enabled":true}]}`)
}

func FuzzOpenPublishing(f *testing.F) {
	migratetest.Fuzz(f, lists.ReadOpenPublishing,
		`{"redirections":[{"source_path":"a/index.md","redirect_url":"/b","redirect_document_id":true}]}`)
}
