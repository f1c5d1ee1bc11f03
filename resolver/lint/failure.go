package lint

import (
	"errors"
	"slices"
	"strconv"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// FailureKind returns the kind of warning of a rule whose requests get this error, as
// [resolver.Ruleset.Failures] gives it.
func FailureKind(failure error) Kind {
	switch {
	case errors.Is(failure, resolver.ErrLoop):
		return WarnLoop
	case failure == resolver.ErrUnsafePath:
		return WarnUnsafePath
	case failure == resolver.ErrTooLong, failure == resolver.ErrPathTooLong:
		return WarnTooLong
	}
	return WarnTooManyRedirects
}

// failureMessage says why the requests of a rule get an error, and what to write instead.
func failureMessage(rs *resolver.Ruleset, rule resolver.Rule, failure error) string {
	options := rs.Options()
	if resolver.IsTemplate(rule.Key) {
		return templateFailureMessage(failure, &options)
	}
	const isError = ", so its requests are answered with an error; "
	if loop, is := failure.(*resolver.LoopError); is {
		return loopMessage(rs, rule, loop)
	}
	if failure == resolver.ErrTooManyRedirects {
		return "the chain takes more than " + internalRedirects(mostRedirects(&options)) + isError +
			"lead the rule to the chain's end"
	}
	why, instead := refusal(failure)
	return why + isError + instead
}

// templateFailureMessage is [failureMessage] of a rule with variables.
func templateFailureMessage(failure error, options *resolver.Options) string {
	const forAll = " for every value that no other key takes: its requests are answered with an " +
		"error; "
	if loop, is := failure.(*resolver.LoopError); is {
		return "loop " + loop.Path() + forAll + changeIt
	}
	if failure == resolver.ErrTooManyRedirects {
		most := min(mostRedirects(options), resolver.MaxTemplateRedirects)
		return "the chain never ends, or takes more than " + internalRedirects(most) + "," + forAll +
			changeIt
	}
	why, instead := refusal(failure)
	return why + "," + forAll + instead
}

const changeIt = "change the rule's destination"

// refusal says why a chain that does not exceed the limit of redirects leads nowhere, and what to
// write instead.
func refusal(failure error) (why, instead string) {
	switch failure {
	case resolver.ErrUnsafePath:
		return `the chain comes to a path with an encoded ".." segment or control character where a ` +
			"template matches it", "remove that, or " + changeIt
	case resolver.ErrPathTooLong:
		return "the chain comes to a path of more than 8 KiB that begins as a template does",
			changeIt
	}
	return "the chain comes to a path or destination of more than 65535 bytes", changeIt
}

// loopMessage says that a rule leads into a loop, or is part of it.
func loopMessage(rs *resolver.Ruleset, rule resolver.Rule, loop *resolver.LoopError) string {
	switch {
	case !slices.Contains(loop.Cycle, rule.Key):
		return "the rule leads into the loop " + loop.Path() + ", so its requests are " +
			"answered with an error; break the loop"
	case len(loop.Cycle) == 1:
		next, _, _ := rs.Match(pathOf(rule.Value))
		return selfLoopMessage(rule, next.Remaining)
	}
	return "loop " + loop.Path() + ": its requests are answered with an error; change the " +
		"destination of one of the rules"
}

// selfLoopMessage explains the loop of a natural migration rule that the draft never resolves
// (R18).
func selfLoopMessage(rule resolver.Rule, remaining string) string {
	message := "loop: " + quote(rule.Value) + " lies at or below the key: the rule redirects to " +
		"itself forever, so its requests are answered with an error; "
	if remaining == "" || remaining == "/" { // an exact key has these paths, too
		return message + "change its destination, or remove it"
	}
	return message + "mark the rule exact, so that it takes /" + rule.Key +
		" alone, or lead it to a path outside of /" + rule.Key
}

// mostRedirects is the maximum number of internal redirects.
func mostRedirects(options *resolver.Options) int {
	if options.MaxRedirects != nil {
		return *options.MaxRedirects
	}
	return resolver.MaxRedirects
}

// internalRedirects returns this number of them in words.
func internalRedirects(n int) string {
	if n == 1 {
		return "1 internal redirect"
	}
	return strconv.Itoa(n) + " internal redirects"
}
