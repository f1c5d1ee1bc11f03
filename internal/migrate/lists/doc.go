// Package lists reads lists of redirects that programs keep in JSON, YAML and TOML: those of
// Vercel, Next.js, Mintlify, Firebase and Docusaurus, maps of paths, netlify.toml, and what golink
// exports.
//
// Each is a [migrate.Reader]. It decodes a file, and adds a [redirects.Line] for each entry; a path
// with variables becomes a regular expression first, which package pathexpr makes lines of.
package lists
