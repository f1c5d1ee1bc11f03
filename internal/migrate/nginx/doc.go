// Package nginx reads maps: those of nginx, and other files with a key and a destination on each
// line. Which kind it is, the first line tells.
//
//	/a https://a.example;      nginx's, or a whole block: map $uri $new { ... }
//	/a<tab>https://a.example   a list with tabs
//	/a https://a.example       Apache's RewriteMap, or a map file of HAProxy
//
// Each key is a line of a table for a path alone. Of nginx's, plain keys come first, whatever their
// case, then regular expressions in their order, then the default.
//
// It imports package migrate for what readers share, and the packages redirects and pathexpr for
// lines. Package formats alone imports it.
package nginx
