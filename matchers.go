package shortlink

import (
	"slices"
	"strings"
)

// What the matchers of a route in a configuration match.

// matchesMoreThanHosts reports whether a route has a matcher for anything but hosts.
func matchesMoreThanHosts(matchers any) bool {
	sets, _ := matchers.([]any)
	return slices.ContainsFunc(sets, func(set any) bool {
		members, _ := set.(map[string]any)
		_, ofHosts := members["host"]
		return len(members) > 1 || !ofHosts
	})
}

// hostsOf returns the hosts that a route's matchers match, or nil for any.
func hostsOf(matchers any) []string { return matchedBy(matchers, "host") }

// matchedBy returns the values of matchers of one kind in a route's matcher sets, or nil for all.
func matchedBy(matchers any, kind string) (texts []string) {
	sets, _ := matchers.([]any)
	for _, set := range sets {
		members, _ := set.(map[string]any)
		named, _ := members[kind].([]any)
		if named == nil {
			return nil
		}
		texts = append(texts, textsOf(named)...)
	}
	return texts
}

// notFiles returns what a matcher "not file" appends to a path to find files, or nil if a route has
// none.
func notFiles(matchers any) (endings []string) {
	const path = "{http.request.uri.path}"
	sets, _ := matchers.([]any)
	if len(sets) != 1 {
		return nil
	}
	members, _ := sets[0].(map[string]any)
	excluded, _ := members["not"].([]any)
	for _, set := range excluded {
		members, _ := set.(map[string]any)
		file, _ := members["file"].(map[string]any)
		if file == nil || len(members) > 1 {
			continue
		}
		tried, _ := file["try_files"].([]any)
		if tried == nil {
			tried = []any{path}
		}
		for _, name := range textsOf(tried) {
			if ending, is := strings.CutPrefix(name, path); is && !strings.Contains(ending, "{") {
				endings = append(endings, ending)
			}
		}
	}
	return endings
}
