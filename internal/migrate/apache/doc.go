// Package apache reads the directives of Apache's mod_alias and mod_rewrite. They come from a
// .htaccess file or a server's configuration. Each directive makes one line of a table, or several
// if its regular expression stands for several paths:
//
//	Redirect 301 /a https://a.example   /a/{splat}   https://a.example/{splat}
//	RewriteRule ^u/([^/]+)$ /p?n=$1     /u/{p1}      /p?n={p1}
//
// Lines of mod_rewrite precede those of mod_alias, because Apache applies them first.
//
// It imports package migrate for code that readers share, and packages redirects and pathexpr for
// lines. Only package formats imports it.
package apache
