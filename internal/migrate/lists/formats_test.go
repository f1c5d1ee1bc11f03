package lists_test

import (
	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/migrate/lists"
)

// The formats of the lists, as in package formats.
var (
	array       = migrate.Format{Read: migrate.LinesOf(lists.ReadArray), SeveralPerLine: true}
	yaml        = migrate.Format{Read: migrate.LinesOf(lists.ReadYAML), SeveralPerLine: true}
	golink      = migrate.Format{Read: migrate.LinesOf(lists.ReadGolink)}
	netlifyTOML = migrate.Format{Read: migrate.LinesOf(lists.ReadNetlifyTOML), IsNetlify: true}

	amplify        = migrate.Format{Read: migrate.LinesOf(lists.ReadAmplify), SeveralPerLine: true}
	azure          = migrate.Format{Read: migrate.LinesOf(lists.ReadAzure), SeveralPerLine: true}
	wordpress      = migrate.Format{Read: migrate.LinesOf(lists.ReadWordPress), SeveralPerLine: true}
	openPublishing = migrate.Format{Read: migrate.LinesOf(lists.ReadOpenPublishing)}
	s3             = migrate.Format{Read: migrate.LinesOf(lists.ReadS3), SeveralPerLine: true}
	iis            = migrate.Format{Read: migrate.LinesOf(lists.ReadIIS), SeveralPerLine: true}
)
