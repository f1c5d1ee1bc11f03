package hits

import "time"

type Day struct {
	Date time.Time
	N    uint64
}

const DaysKept = 90

type Used struct {
	Key string
	N   uint64
}
