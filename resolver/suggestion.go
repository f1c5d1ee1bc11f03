package resolver

import (
	"errors"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/uritemplate"
)

// An error of a rule says what to write instead. Whatever it suggests is good itself.

// insteadOf says what the author of a value that is neither URL nor path may write.
func insteadOf(value string) string {
	bare := withoutMarks(value)
	outcome := strings.ToLower(bare)
	ofStatus := InsteadOfStatus(bare, func(outcome string) string { return outcome })
	switch {
	case ofStatus != "":
		return ofStatus
	case isOutcome(bare):
		return "write " + bare
	case isOutcome(outcome):
		return "write " + outcome + ", or /" + bare + " for a path"
	}
	suggested := goodValues(meantBy(bare))
	switch {
	case strings.HasPrefix(bare, ":") && len(suggested) == 1:
		return "write the host, too, as in " + suggested[0]
	case len(suggested) > 0:
		return "write " + strings.Join(suggested, " or ")
	case hasOtherScheme(bare):
		return "other schemes are not redirected to"
	}
	return "write a URL like https://example.com/docs or a path like /docs"
}

// InsteadOfStatus says what to write for a status that is not a redirect, if a rule has an outcome
// for it. line returns the text of a rule with that outcome. For any other status the result is "".
func InsteadOfStatus(status string, line func(outcome string) string) string {
	switch status {
	case "410":
		return "write " + line(GoneValue)
	case "404":
		return "write " + line(PassValue) + ", which lets the next handler answer, or " +
			line(GoneValue) + " for 410"
	}
	return ""
}

// Exchanged returns the rule that is meant by one whose key and destination are exchanged: the key
// is a URL, and the destination a key, perhaps with a "/" in front.
func Exchanged(rule Rule) (meant Rule, is bool) {
	if !isAbsolute(rule.Key) || isAbsolute(rule.Value) || isOutcome(rule.Value) {
		return rule, false
	}
	meant = rule
	meant.Key, meant.Value = strings.TrimPrefix(rule.Value, "/"), rule.Key
	return meant, isGood(meant.Key, meant.Value)
}

// isGood reports whether a key and a value are good, and fit each other.
func isGood(key, value string) bool {
	if IsTemplate(key) {
		_, err := Compile([]Rule{{Key: key, Value: value}}, Options{})
		return err == nil
	}
	_, err := parseValue(value)
	return err == nil && checkKey(key) == nil
}

// exchangedError says that key and destination of a rule are exchanged; nil if they are not.
func exchangedError(rule Rule) error {
	meant, is := Exchanged(rule)
	if !is {
		return nil
	}
	return errors.New("key and destination are exchanged: write " + inWords(meant))
}

// inWords names key and destination of a rule, for messages about rules of any format.
func inWords(rule Rule) string {
	return "the key " + rule.Key + " and the destination " + rule.Value
}

// goodValues returns those of values that are good.
func goodValues(values []string) []string {
	return slices.DeleteFunc(values, func(value string) bool {
		_, err := parseValue(value)
		return err != nil
	})
}

// meantBy guesses which value a text is meant for.
func meantBy(text string) []string {
	path := strings.ReplaceAll(text, `\`, "/")
	first, _, _ := strings.Cut(path, "/")
	scheme, rest := cutScheme(path)
	switch {
	case text == "" || isAbsolute(text) || isInternal(text):
		return []string{text}
	case scheme != "":
		return []string{scheme + "://" + strings.TrimLeft(rest, ":/")}
	case hasOtherScheme(path):
		return nil
	case strings.HasPrefix(path, ":"):
		return []string{"https://localhost" + path}
	case strings.Contains(path, ":") || strings.IndexByte(first, '.') > 0 && first != "..":
		return []string{"https://" + path, "/" + path}
	}
	return []string{"/" + withoutLeadingDots(path)}
}

// cutScheme cuts off http or https, however it is written, where a ":" or "//" follows.
func cutScheme(text string) (scheme, rest string) {
	for _, scheme := range []string{"https", "http"} {
		if len(text) < len(scheme) || !strings.EqualFold(text[:len(scheme)], scheme) {
			continue
		}
		rest := text[len(scheme):]
		if strings.HasPrefix(rest, ":") || strings.HasPrefix(rest, "//") {
			return scheme, rest
		}
	}
	return "", text
}

// hasOtherScheme reports whether a text looks like a URL of another scheme, and not like a host
// with its port.
func hasOtherScheme(text string) bool {
	scheme, rest, found := strings.Cut(strings.ToLower(text), ":")
	isName := scheme != "" && strings.Trim(scheme, "abcdefghijklmnopqrstuvwxyz") == ""
	isOther := isName && scheme != "http" && scheme != "https"
	startsWithDigit := rest != "" && '0' <= rest[0] && rest[0] <= '9'
	return found && isOther && !startsWithDigit
}

// withoutMarks returns a text without the punctuation of other languages around it. That is
// quotation marks of any kind, and the comma or semicolon behind them.
func withoutMarks(text string) string {
	const opening, closing = "'\"`<“‘„«", "'\"`>”’“»"
	text = strings.TrimRight(text, ",; ")
	if bare := strings.TrimLeft(text, opening); bare != text {
		return strings.TrimRight(bare, closing)
	}
	return text
}

// withoutLeadingDots cuts off the empty segments, "." and ".." that a relative path begins with.
func withoutLeadingDots(path string) string {
	for {
		switch segment, rest, _ := strings.Cut(path, "/"); {
		case path != "" && (segment == "" || segment == "." || segment == ".."):
			path = rest
		default:
			return path
		}
	}
}

// insteadOfTwoSlashes says what the author of a value that begins with "//" may write.
func insteadOfTwoSlashes(value string) string {
	bare := strings.TrimLeft(value, "/")
	var suggested []string
	for _, good := range goodValues([]string{"https://" + bare, "/" + bare}) {
		if isInternal(good) {
			good += " for a path of this one"
		} else {
			good += " for another host"
		}
		suggested = append(suggested, good)
	}
	if suggested == nil {
		return "remove the others"
	}
	return "write " + strings.Join(suggested, ", or ")
}

// insteadOfSlash says what the author of a key with a leading "/" may write.
func insteadOfSlash(key string) string {
	switch bare := strings.TrimLeft(key, "/"); {
	case bare == "":
		return "\"/\" itself cannot be a shortlink"
	case checkKey(bare) != nil:
		return "remove it"
	default:
		return "write " + bare
	}
}

// regexpError returns the error of an expression that looks like a regular expression behind a
// variable's name, as other systems have them. It returns nil for any other expression.
func regexpError(expression string) error {
	name, pattern, found := strings.Cut(strings.Trim(expression, "{}"), ":")
	if !found || strings.Trim(pattern, "0123456789") == "" {
		return nil
	}
	_, err := uritemplate.Parse("{" + name + "}")
	if err != nil || strings.ContainsAny(name, "+#./;?&,") {
		name = "name"
	}
	return modifierError(expression, name, "a regular expression, and there are none in rules")
}

// modifierError says what a variable has that rules do not, and what to write instead.
func modifierError(expression, name, what string) error {
	return errors.New("the expression " + expression + " has " + what +
		"; write {" + name + "}, or {+" + name + "} for several segments")
}
