// Package find finds rules by what people remember of them.
//
// An [Index] belongs to the ruleset that serves, and follows it from one to the next. Editors
// search it by the beginning of a key, or by words in a rule. For keys that do not exist, it
// suggests keys that were perhaps meant. It is made in the background when it is first used.
// [Listed] suggests keys without an index. Package near decides what is near.
//
// The package imports resolver and internal/near.
package find
