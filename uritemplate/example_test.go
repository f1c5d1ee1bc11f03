package uritemplate_test

import (
	"fmt"

	"github.com/caddy-shortlink/shortlink/uritemplate"
)

func Example() {
	template, err := uritemplate.Parse("/repos{/owner,repo}{?q}")
	if err != nil {
		fmt.Println(err)
		return
	}
	uri, err := template.Expand(map[string]uritemplate.Value{
		"owner": uritemplate.String("caddyserver"),
		"repo":  uritemplate.String("a/b"),
	})
	fmt.Println(uri, err)
	matcher, err := template.Matcher()
	if err != nil {
		fmt.Println(err)
		return
	}
	values, ok := matcher.Match("/repos/caddyserver/a%2Fb?q=x", nil)
	for slot, name := range template.Names() {
		raw, _ := values[slot].Text()
		fmt.Println(name, raw, ok)
	}
	// Output:
	// /repos/caddyserver/a%2Fb <nil>
	// owner caddyserver true
	// repo a%2Fb true
	// q x true
}

func ExampleTemplate_Matcher() {
	template, err := uritemplate.Parse("{a}-{b}")
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = template.Matcher()
	fmt.Println(err)
	// Output:
	// template "{a}-{b}" is ambiguous: the expressions at bytes 1 and 5 both accept 'a'; put a character between them that one of them does not accept
}
