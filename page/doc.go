// Package page is the links page: find, understand, make and mend links in a browser.
package page
