package pattern_test

import (
	"fmt"

	"github.com/caddy-shortlink/shortlink/resolver/pattern"
)

func Example() {
	all := pattern.Parse("blog/{+1}", false)
	page := pattern.Parse("{1}/about", true)
	path, both := all.Overlap(page)
	fmt.Println(path, both)
	fmt.Println(page.Compare(all) < 0, "as it has more segments of its own")

	index := pattern.NewIndex(pattern.Preceded)
	index.Add(all, 1)
	number, path, found := index.First(page)
	fmt.Println(number, path, found)
	// Output:
	// /blog/about true
	// true as it has more segments of its own
	// 1 /blog/about true
}
