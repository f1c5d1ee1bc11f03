package live

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/caddy-shortlink/shortlink/source"
)

// emptiableSource is a source whose configuration lets it lose all its rules.
type emptiableSource struct{ plainSource }

func (*emptiableSource) AllowsEmpty() bool { return true }

func TestASourceOfOthersThatBecomesEmptyIsRefusedUnlessItMay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, may := &plainSource{name: "plain"}, &emptiableSource{plainSource{name: "emptiable"}}
		s.set("a", one)
		may.set("b", two)
		rs, _ := serve(t, Config{Sources: []source.Source{s, may}})
		synctest.Wait()
		s.set()
		s.tell()
		rs.wantServed(t, "a", one, "b", two)
		err := rs.LastLoad().Err
		if !errors.Is(err, errEmptied) || !strings.Contains(err.Error(), "restart Caddy") {
			t.Errorf("the last error is %v", err)
		}
		s.set("a", three)
		s.tell()
		may.set()
		may.tell()
		rs.wantServed(t, "a", three, "b", "pass")
	})
}

func TestASourceThatIsReadAfterTheEditOfItsLastRuleIsNotRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, other := &plainSource{name: "edited"}, &plainSource{name: "other"}
		s.set("a", one)
		other.set("b", two)
		rs, _ := serve(t, Config{Sources: []source.Source{s, other}})
		synctest.Wait()
		// so that what is left is first read when the other source is good again
		s.beforeEdit = func() { other.set("b", "nowhere"); other.changed() }
		if err := rs.apply(t.Context(), "a", ""); err == nil {
			t.Error("what the sources hold is not rejected")
		}
		synctest.Wait()
		rs.wantServed(t, "a", one, "b", two)
		other.set("b", two)
		other.tell()
		rs.wantServed(t, "a", "pass", "b", two)
		s.set("a", one)
		s.tell()
		s.set()
		s.tell()
		rs.wantServed(t, "a", one)
	})
}
