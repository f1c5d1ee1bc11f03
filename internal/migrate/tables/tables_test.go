package tables_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/migrate/migratetest"
	"github.com/caddy-shortlink/shortlink/internal/migrate/tables"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// csv is the format of the tables, as in package formats.
var csv = migrate.Format{Read: tables.ReadCSV}

func TestTablesOfOtherProgramsBecomeRules(t *testing.T) {
	var manyHosts strings.Builder
	manyHosts.WriteString("Short link,Destination URL\n")
	for i := range 102 {
		fmt.Fprintf(&manyHosts, "https://h%d.example/a,/x\n", i)
	}
	migratetest.CheckAll(t, csv, []migratetest.Case{
		{"WordPress Redirection", `source,target,regex,code,type,hits,title,status
"/old","/new",0,301,"url",3,"","active"
"/dead","",0,410,"error",0,"","active"
"^/b/(.*)","/n/$1",1,301,"url",0,"","active"
/off,/new,0,301,url,0,,disabled
/pass,/new,0,301,pass,0,,active
/lost,,0,404,error,0,,active
/u,/unknown,0,302,url,0,,active
/bad,/new,0,x,url,0,,active
`, rulefile.Reading{}, "old,/new,301,exact\ndead,gone,,exact\nu,/unknown,302,exact\n",
			"file:4:1: a rule matches a whole path, or all below it, not by \"1\" (a regular " +
				"expression\nfile:6:1: a rule can redirect, but not \"pass\"\nfile:7:1: a rule has no status " +
				"404\nfile:9:1: the status must be\nfile:5:1: the redirect is disabled in WordPress " +
				"Redirection\nthis is read as a table of WordPress Redirection\nignores requests with a " +
				"query\nignored: \"hits\", \"title\"\ntells a path from that"},
		{"Yoast", "Origin,Target,Type,Format\n\"old\",\"/new\",301,plain\n\"x\",\"\",410,plain\n" +
			"\"^b/(.*)\",\"/n/$1\",301,regex\n", rulefile.Reading{}, "old,/new,301,exact\nx,gone,,exact\n",
			"file:4:1: a rule matches a whole path, or all below it, not by \"regex\"\na table of Yoast"},
		{"Shlink", "createdAt,domain,shortCode,shortUrl,longUrl,title,tags,visits\n" +
			"2024,,abc,https://s.example/abc,https://e.example/?x=1,t,a|b,3\n" +
			"2024,,d,https://s.example/d,https://e.example,,,3\n", rulefile.Reading{},
			"abc,https://e.example/?x=1,302,exact,,merge\nd,https://e.example,302,exact\n",
			"a table of Shlink\nrules for devices\nignored: \"createdAt\", \"title\"\nall keys with a " +
				"host have \"s.example\""},
		{"Dub", "Short link,Destination URL,Clicks,Created " +
			"at\nhttps://dub.sh/a,https://e.example,3,2024\n" +
			"d.example/b,https://e.example,3,2024\nhttps://dub.sh/c,'=x,3,2024\n",
			rulefile.Reading{Hosts: []string{"dub.sh"}}, "a,https://e.example,302,exact\n",
			"file:3:1: a rule has no host; if \"d.example\" is this site's\n\"'=x\" is not a " +
				"destination\na table of Dub"},
		{"several hosts", "Short link,Destination URL\nhttps://a.example/a,/x\nhttps://b.example/b,/x\n",
			rulefile.Reading{}, "",
			"file:2:1: a rule has no host; if \"a.example\"\nfile:3:1: a rule has no host"},
		{"many hosts", manyHosts.String(), rulefile.Reading{}, "",
			"file:102:1: a rule has no host; if \"h100.example\"\nfile:103:1: a rule has no host; if " +
				"\"h101.example\""},
		{"Bitly", "long_url;title;link;tags\nhttps://e.example;t;bit.ly/x;\n", rulefile.Reading{},
			"x,https://e.example,301,exact\n", "a table of Bitly\nall keys with a host have \"bit.ly\""},
		{"Kutt", "address,target,domain\na,https://e.example,k.example\n", rulefile.Reading{Status: 307},
			"a,https://e.example,307,exact\n", "a table of Kutt\nall keys with a host have \"k.example\""},
		{"YOURLS", "keyword\turl\ttitle\na\thttps://e.example\tt\n", rulefile.Reading{},
			"a,https://e.example,301,exact,,ignore\n", "a table of YOURLS\ndoes not pass on the query"},
		{"Vercel", "source,destination,permanent,query\n/old,/blog,true,t\n/c,https://e.example/c,,\n" +
			"/d/*,/e,,maybe\n/f/*,/e,,\n", rulefile.Reading{},
			"old,/blog,308,exact,,preserve\nc,https://e.example/c,307,exact,,ignore\n",
			"file:4:1: this column holds true or false\nfile:5:1: a row of Vercel has no patterns\nfold " +
				"case\nVercel does not pass on the query of a request"},
		{"a path of Vercel twice", "source,destination,permanent\n/a,/b,\n/c,/d,\n/A,/e,true\n",
			rulefile.Reading{}, "c,/d,307,exact,,ignore\nA,/e,308,exact,,ignore\n",
			"file:2:1: Vercel uses the last of several redirects of a path, which is that at file:4:1"},
		{"Cloudflare", "e.example/c,https://n.example/c,301,,,,\n" +
			"e.example/d,https://n.example/d,302,TRUE,,TRUE,TRUE\n" +
			"e.example/d/x,https://n.example/y,302,FALSE,,,\n" +
			"e.example/e,https://n.example/e,,,,true,\n" +
			"e.example/f,https://n.example/f,,,TRUE,,\n", rulefile.Reading{},
			"c,https://n.example/c,301,exact,,ignore\nd,https://n.example/d,302,,,preserve\n" +
				"d/x,https://n.example/y,302,exact,,ignore\ne,https://n.example/e,301,exact,,ignore\n" +
				"e/{+_rest},https://n.example/e,301,exact,,ignore\n",
			"file:5:1: a rule has no host, and cannot match subdomains\na table of Cloudflare\nall keys " +
				"with a host have \"e.example\""},
		{"Cloudflare's query", "e.example/c,https://n.example/c,301,TRUE,,,\n" +
			"e.example/d,https://n.example/d,301,FALSE,,,\ne.example/e,https://n.example/e?x,301,,,,\n" +
			"e.example/f,https://n.example/f,301,yes,,,\n", rulefile.Reading{Query: resolver.QueryMerge},
			"c,https://n.example/c,301,exact,,preserve\nd,https://n.example/d,301,exact,,ignore\n" +
				"e,https://n.example/e?x,301,exact,,merge\n",
			"file:4:1: this column holds true or false, not \"yes\""},
		{"Cloudflare's host", "E.example/c,https://n.example/c\n",
			rulefile.Reading{Hosts: []string{"e.example"}}, "c,https://n.example/c,301,exact,,ignore\n",
			"a table of Cloudflare"},
		{"Cloudflare with its header", "source_url,target_url,status_code,preserve_query_string," +
			"include_subdomains,subpath_matching,preserve_path_suffix\n" +
			"e.example/c,https://n.example/c,301,,,,\ne.example/d,https://n.example/d,302,TRUE,,TRUE,TRUE\n",
			rulefile.Reading{},
			"c,https://n.example/c,301,exact,,ignore\nd,https://n.example/d,302,,,preserve\n",
			"a table of Cloudflare\nall keys with a host have \"e.example\""},
		{"Rank Math", "id,source,matching,destination,type,category,status,ignore\n" +
			"1,old,exact,new/,301,,active,\n2,Dead,exact,,410,,active,case\n3,c,contains,/x,302,,active,\n" +
			"4,d,regex,/x,302,,active,\n5,e,exact,/x,302,,inactive,\n6,f,exact,https://x.example,307,,,\n",
			rulefile.Reading{}, "old,/new/,301,exact\nDead,gone,,exact\nf,https://x.example,307,exact\n",
			"file:3:1: the redirect also matches its path in other letter case\nfile:4:1: a rule matches " +
				"a whole path, or all below it, not by \"contains\"\nfile:5:1: a rule matches " +
				"a whole path\nfile:6:1: the redirect is disabled\na table of Rank Math\nignored: " +
				"\"id\", \"category\""},
		{"a header that names nothing", "Short link,Long link,Title\na,https://e.example,t\n",
			rulefile.Reading{},
			"", "file:1:1: the header has no column for the key, or none for the destination: " +
				"\"Short link\", \"Long link\", \"Title\"; name the columns key and destination"},
		{"one in another language", "Quelle;Ziel;Art\n/a;/b;301\n", rulefile.Reading{}, "",
			"file:1:1: the header has no column for the key"},
		{"UTF-16", "\xff\xfea\x00,\x00/\x00b\x00\n\x00c\x00,\x00/\x00b\x00", rulefile.Reading{}, "",
			"file:1:1: the text is UTF-16; save the file as UTF-8"},
		{"one's own, and more", "Source,Target,Code,Hits,Note\n/a,/b,301,3,n\n",
			rulefile.Reading{Query: resolver.QueryIgnore}, "a,/b,301,exact,,ignore,n\n",
			"columns without a meaning here, which --columns status=NAME can give one, are ignored: " +
				"\"Hits\"\nkeys that begin with"},
		{"rows that are none", "keyword,url\n,https://e.example\na?b,/c\na\x01,/c\n\xff,/c\n\"a,b\n" +
			"c,/d,e\nf,g\n", rulefile.Reading{}, "",
			"file:2:1: the row has no key\nfile:3:1: a rule matches the path alone\nfile:4:1: the row " +
				"holds control characters\nfile:5:1: the row is not Unicode text\nfile:6:5: a field in " +
				"quotation marks\nfile:7:1: \"e\" is beyond the last column\nfile:8:1: \"g\" is not a " +
				"destination"},
		{"one key twice", "keyword,url\na,/b\na,/c\n", rulefile.Reading{}, "a,/b,301,exact,,ignore\n",
			"file:3:1: no request reaches this line"},
	})
}

func TestTablesThatAreConvertedMayNameColumnsAsUsual(t *testing.T) {
	const cut = "keys that begin with \"/\""
	for _, header := range []string{"from,to,http status", "from,to,Type", "key,url,status code",
		"source,destination,status code", "source,destination,type", "from,to,redirect",
		"from,to,redirect type", "Path,Destination,Status", "old,new,status", "Old URL,New_URL,code",
		"Alias,Target,Redirect type", "Redirect from,Redirect to,HTTP-Status"} {
		migratetest.CheckAll(t, csv, []migratetest.Case{{header,
			header + "\n/a,/b,301\n/c,,410\n/d,/e,410\n",
			rulefile.Reading{}, "a,/b,301,exact\nc,gone,,exact\nd,gone,,exact\n",
			cut}})
	}
	migratetest.CheckAll(t, csv, []migratetest.Case{
		{"no header", "/a;/b;permanent\n/c;;410\n/d;/e;temporary\n", rulefile.Reading{},
			"a,/b,301,exact\nc,gone,,exact\nd,/e,302,exact\n", cut},
		{"statuses with their names", "from,to,status\na,/b,308 Permanent Redirect\nc,,Gone\n",
			rulefile.Reading{}, "a,/b,308\nc,gone\n", ""},
		{"no statuses", "from,to,http status\na,/b,404\nc,/d,moved\n", rulefile.Reading{}, "",
			"file:2:6: this column holds 301, 302, 303, 307, 308, permanent or temporary, or 410, not " +
				"\"404\"; write pass as the destination, which lets the next handler answer, or gone as the " +
				"destination for 410\nfile:3:6: this column holds 301"},
		{"exchanged columns", "https://e.example/a,a\n/b,/c\n", rulefile.Reading{}, "b,/c,,exact\n",
			"file:1:1: key and destination are exchanged; write a,https://e.example/a; or put a " +
				"header first: destination,key"},
		{"full URLs", "from,to\nhttps://e.example/a,/c\n",
			rulefile.Reading{Hosts: []string{"e.example"}}, "a,/c,,exact\n",
			cut},
		{"a type of something else", "from,to,type\na,/b,page\nc,/d,301\ne,/f,\n", rulefile.Reading{},
			"a,/b\nc,/d,301\ne,/f\n", "ignored: \"type\""},
		{"a type of no redirect", "from,to,type\na,/b,200\nc,/d,Moved permanently\n",
			rulefile.Reading{}, "", "file:2:6: this column holds 301\nfile:3:6: this column holds 301"},
		{"a status and a type", "from,to,status,type\na,/b,301,302\n", rulefile.Reading{},
			"a,/b,301\n", "ignored: \"type\""},
		{"two types", "from,to,type,redirect\na,/b,301,302\n", rulefile.Reading{}, "a,/b,302\n",
			"file:1:14: \"redirect\" is a second column for the status"},
		{"two of the usual names", "path,old,new\na,b,/c\n", rulefile.Reading{}, "b,/c\n",
			"file:1:6: \"old\" is a second column for the key"},
		{"a proper name beside a usual one", "slug,url,path,new,statuscode,code\na,/b,/x,yes,404,301\n",
			rulefile.Reading{}, "a,/b,301\n", "ignored: \"path\", \"new\", \"statuscode\""},
		{"statuses in a column of another name", "from,to,Art,hits\na,/b,410,3\nc,/d,301,301\n",
			rulefile.Reading{}, "a,/b\nc,/d\n",
			"--columns status=NAME can give one, are ignored: \"Art\", \"hits\""},
		{"keys that are URLs", "Old URL,New URL\nhttps://a.example/x,/y\nhttps://b.example/x,/z\n",
			rulefile.Reading{Hosts: []string{"a.example"}}, "x,/y,,exact\n",
			"file:3:1: a rule has no host; if \"b.example\" is this site's"},
		{"a rule first that looks like a header", "path,/new\nold,gone\n", rulefile.Reading{},
			"path,/new\nold,gone\n", ""},
	})
}

func TestKeysOfATableSayWhatTheyMatch(t *testing.T) {
	no, yes := false, true
	migratetest.CheckAll(t, csv, []migratetest.Case{
		{"paths are exact, keys are not", "from,to\n/a,/b\nc,/d\n", rulefile.Reading{},
			"a,/b,,exact\nc,/d\n",
			"keys that begin with"},
		{"unless the command line says so", "from,to\n/a,/b\n", rulefile.Reading{Exact: &no},
			"a,/b\n", "keys that begin with"},
		{"unless a column says so", "from,to,exact\n/a,/b,\n/c,/d,exact\n", rulefile.Reading{},
			"a,/b\nc,/d,,exact\n", "keys that begin with"},
		{"a wildcard", "from,to\n/a/*,https://x.example/b/:splat\n/c/*,/d/*\n/e/*,/f/$1\n/g/*,/h\n",
			rulefile.Reading{Exact: &yes},
			"a,https://x.example/b/\nc,/d/\ne,/f/\ng,/h,,exact\ng/{+splat},/h,,exact\n",
			"keys that begin with"},
		{"wildcards elsewhere", "from,to,note\n/a*,/b\n/c/*/d,/e\n/f/*,/x/:splat/y\n/g/*,/z,n\n" +
			"/h/*,gone\n",
			rulefile.Reading{}, "f,/x/y,,exact\nf/{+splat},/x/{+splat}/y,,exact\n",
			"file:2:1: \"*\" stands for the rest of a path, at its end behind a \"/\"; for a segment, or a " +
				"part of one, write in YAML ^/a([^/]+)$: /b\nfile:3:1: \"*\" stands\nfile:5:1: a row with a " +
				"\"*\" has a destination, a status\nfile:6:1: a row with a \"*\""},
		{"a row that leads to itself", "from,to\n/a,/a/\n/b/,/b\n/c,/c?x=1\n", rulefile.Reading{}, "",
			"file:2:1: the row leads to itself, or to itself with a slash\nfile:3:1: the row " +
				"leads to itself\nfile:4:1: the row"},
		{"a blank in front of a destination", "/a, /b\n", rulefile.Reading{}, "a,/b,,exact\n",
			"keys that begin with"},
	})
}

func TestTheUsualPairsOfColumnsAreKnown(t *testing.T) {
	for _, header := range []string{"short,long", "Slashtag,Destination", "Short URL,Original URL",
		"Original URL,Redirect URL", "Address,Redirect URL", "Old Page URL,New Page URL",
		"short_url,long_url"} {
		migratetest.CheckAll(t, csv, []migratetest.Case{{header, header + "\na,https://b.example\n",
			rulefile.Reading{}, "a,https://b.example\n", ""}})
	}
}

func TestASourceTakesTheProperNamesOfColumnsAlone(t *testing.T) {
	for _, text := range []string{"path,destination\na,/b\n", "from,to,type\na,/b,301\n",
		"from,to,status\na,/b,permanent\n", "old,new,status\na,/b,301\n"} {
		if migratetest.Loads(rulefile.CSV, text) == nil {
			t.Errorf("%q loads", text)
		}
	}
}

func FuzzProgramCSV(f *testing.F) {
	for _, text := range []string{
		"source,target,regex,code,type,status\n/old,/new,0,301,url,active\n/d,,0,410,error,active\n",
		"Short link,Destination URL\nhttps://a.example/a,/x\nb.example/b,'=x\n",
		"https://e.example/c,https://n.example/c,301,,,,\ne.example/{d},/{n},302,TRUE,,TRUE,\n",
		"source,destination,permanent,query\n/old,/blog,true,t\n",
		"Short URL,Original URL\n/a/*,/b/:splat\n/c,/c/\n/d/*,/e\n",
		"source,matching,destination,type,status,ignore\na,exact,b,301,active,case\n",
		"Old URL,New URL,type,Art\nhttps://a.example/a,/b,410,301\n/c,/d,page,301\n",
		"keyword\turl\na\thttps://e.example\n",
	} {
		f.Add(text, true)
		f.Add(text, false)
	}
	f.Fuzz(func(t *testing.T, text string, hasDefaults bool) {
		reading := rulefile.Reading{Hosts: []string{"a.example"}}
		if hasDefaults {
			reading.Exact, reading.Status, reading.Query = new(false), 303, resolver.QueryPreserve
		}
		out, done := migratetest.Convert(t, reading, csv, rulefile.JSON, text)
		mayFail := strings.Contains(strings.Join(done.Remarks, ""), "the chains of the new file")
		if err := migratetest.Loads(rulefile.JSON, out); err != nil && !mayFail {
			t.Errorf("it does not load: %v\n%s", err, out)
		}
		if done.Exact < 0 {
			t.Errorf("%+v", done)
		}
	})
}
