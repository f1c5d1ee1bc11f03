package pattern

// Steps is how many steps the index has taken, and Keys for how many keys.
func (x *Index) Steps() int { return x.work }

func (x *Index) Keys() int { return x.keys }
