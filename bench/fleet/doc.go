// Package fleet tests several real servers that share their rules, while parts of what they depend
// on break: processes are killed, hosts are cut off, memory and disks fill up, passwords and
// certificates change. Requests and writes go on meanwhile.
//
// A lab is a network of hosts in namespaces of Linux; a fleet is three Caddys in it, with a source
// of rules. A ledger knows what was written, so that every answer can be judged. Nothing imports
// the package: it has only tests, which need Linux, root, iproute2 and redis-server.
//
//	SHORTLINK_SLOW=1 SHORTLINK_REDIS_SERVER=redis-server go test -C bench -v -timeout 20m ./fleet
//	SHORTLINK_SLOW=1 SHORTLINK_REDIS_SERVER=redis-server go test -C bench -v -timeout 2h ./fleet \
//		-run Soak -args -soak 1h
package fleet
