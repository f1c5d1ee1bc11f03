// Package nginx reads maps and servers of nginx, and other maps: files with a key and a destination
// on each line. The first line determines the kind.
//
//	/a https://a.example;      nginx's, or a whole block: map $uri $new { ... }
//	/a<tab>https://a.example   a list with tabs
//	/a https://a.example       Apache's RewriteMap, or a map file of HAProxy
//
// A file with servers has maps, and redirects of servers and locations. Each key makes a line of a
// table for exactly one path. In nginx, plain keys come first, in any letter case. Regular
// expressions follow in order, then the default.
//
// It imports package migrate for code that readers share, and packages redirects and pathexpr for
// lines. Only package formats imports it.
package nginx
