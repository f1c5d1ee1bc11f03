// Package weburl is the WHATWG URL Standard as far as http and https URLs need it.
package weburl

import _ "golang.org/x/net/idna"
