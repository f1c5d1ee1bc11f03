// Package apache reads the directives of Apache's mod_alias and mod_rewrite from a .htaccess file,
// or from a server's configuration. A directive of its own is a line of a table, or several where
// its regular expression stands for several paths:
//
//	Redirect 301 /a https://a.example   /a/{splat}   https://a.example/{splat}
//	RewriteRule ^u/([^/]+)$ /p?n=$1     /u/{p1}      /p?n={p1}
//
// Lines of mod_rewrite come in front of those of mod_alias, wherever they stand, as Apache asks
// them first.
//
// It imports package migrate for what readers share, and the packages redirects and pathexpr for
// lines. Package formats alone imports it.
package apache
