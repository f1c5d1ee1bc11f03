// Package lists reads lists of redirects in JSON, YAML and TOML. It covers Vercel, Next.js,
// Mintlify, Firebase and Docusaurus, maps of paths, netlify.toml, and exports of golink.
//
// Each reader is a [migrate.Reader]. It decodes a file, and adds a [redirects.Line] for each entry.
// A path with variables first becomes a regular expression, and package pathexpr makes lines of it.
package lists
