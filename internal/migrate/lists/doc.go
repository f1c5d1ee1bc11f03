// Package lists reads lists of redirects in JSON, YAML, TOML and XML. It covers Vercel, Next.js,
// Mintlify, Firebase and Docusaurus, maps of paths, netlify.toml, and exports of golink. Of AWS
// Amplify, Azure Static Web Apps, WordPress Redirection and Open Publishing, each entry is an
// [object]. S3 and IIS have tables of their own.
//
// Each reader is a [migrate.Reader]. It decodes a file, and adds a [redirects.Line] for each entry.
// A path with variables first becomes a regular expression, and package pathexpr makes lines of it.
package lists
