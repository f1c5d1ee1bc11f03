package redis_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// fakeServer is as much of a Redis as a source of rules asks of one, in the process of the test and
// in its bubble of time. A test can cut it off, and let it do what a Redis does seldom.
type fakeServer struct {
	mu       sync.Mutex
	values   map[string]any // by key: a string, a map of a hash's fields, or a list
	versions map[string]int // of the keys, for transactions
	conns    map[*fakeConn]bool

	isDown bool
	// refusesTracking lets nobody be told of changes.
	refusesTracking bool
	// page is how many keys or fields a step of SCAN gives, and repeats that each step gives those of
	// the step before, too.
	page    int
	repeats bool
	cursors []string // the names after which steps go on
	// before, if not nil, is called ahead of each command, with the number of the command since it was
	// set, from 1. An error ends the connection.
	before  func(n int, command string) error
	counted int
}

func newFakeServer() *fakeServer {
	return &fakeServer{
		values: map[string]any{}, versions: map[string]int{}, conns: map[*fakeConn]bool{}, page: 1000,
	}
}

// list is a value that is no string and no hash.
type list struct{}

var (
	errRefused = errors.New("connection refused")
	errReset   = errors.New("connection reset")
)

// dial connects to the server.
func (s *fakeServer) dial(context.Context, string, string) (net.Conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isDown {
		return nil, errRefused
	}
	client, server := net.Pipe()
	c := &fakeConn{server: s, conn: server, out: make(chan struct{}, 1), watched: map[string]int{}}
	s.conns[c] = true
	go c.write()
	go c.serve()
	return clientConn{client, c}, nil
}

// clientConn is a connection as the client sees it. Like that of a system, it tells one that the
// server has closed before it is used again.
type clientConn struct {
	net.Conn
	server *fakeConn
}

// SyscallConn returns an error where the server has closed the connection.
func (c clientConn) SyscallConn() (syscall.RawConn, error) {
	c.server.server.mu.Lock()
	defer c.server.server.mu.Unlock()
	if c.server.isClosed {
		return nil, errReset
	}
	return silentConn{}, nil
}

// silentConn is a connection on which there is nothing to read.
type silentConn struct{ syscall.RawConn }

func (silentConn) Read(func(uintptr) bool) error { return nil }

// stop ends all connections, and refuses new ones until start.
func (s *fakeServer) stop() {
	s.mu.Lock()
	s.isDown = true
	s.mu.Unlock()
	s.reset()
}

func (s *fakeServer) start() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.isDown = false
}

// reset ends all connections.
func (s *fakeServer) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		c.isClosed, c.prefix = true, nil
		c.conn.Close()
	}
}

// deafen ends the connections of those who are told of changes.
func (s *fakeServer) deafen() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		if c.prefix != nil {
			c.isClosed, c.prefix = true, nil
			c.conn.Close()
		}
	}
}

// beforeEach sets what is called ahead of each command from now on.
func (s *fakeServer) beforeEach(before func(n int, command string) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before, s.counted = before, 0
}

// set gives a key a value, nil to delete it, and tells who listens.
func (s *fakeServer) set(key string, value any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(key, value)
}

// put is set for who holds the lock.
func (s *fakeServer) put(key string, value any) {
	if fields, is := value.(map[string]string); value == nil || is && len(fields) == 0 {
		delete(s.values, key)
	} else {
		s.values[key] = value
	}
	s.versions[key]++
	for c := range s.conns {
		if c.prefix != nil && strings.HasPrefix(key, *c.prefix) {
			c.say(">2\r\n" + bulk("invalidate") + array(bulk(key)))
		}
	}
}

// setField sets a field of a hash, or deletes it where value is nil.
func (s *fakeServer) setField(key, field string, value *string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.putField(key, field, value)
}

func (s *fakeServer) putField(key, field string, value *string) {
	fields := maps.Clone(s.hash(key))
	if fields == nil {
		fields = map[string]string{}
	}
	if delete(fields, field); value != nil {
		fields[field] = *value
	}
	s.put(key, fields)
}

// get returns what a key holds.
func (s *fakeServer) get(key string) any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.values[key]
}

func (s *fakeServer) hash(key string) map[string]string {
	fields, _ := s.values[key].(map[string]string)
	return fields
}

// fakeConn is a connection to a fakeServer, as the server sees it.
type fakeConn struct {
	server  *fakeServer
	conn    net.Conn
	out     chan struct{} // holds a value while there is something to write
	said    []byte        // what is to be written; the server's lock holds it
	prefix  *string       // of the keys whose changes are told; nil for none
	watched map[string]int
	queued  [][]string // in a transaction
	isMulti bool

	isClosed bool // the server's lock holds it, too
}

// say writes, sooner or later, for who holds the server's lock.
func (c *fakeConn) say(reply string) {
	c.said = append(c.said, reply...)
	select {
	case c.out <- struct{}{}:
	default:
	}
}

// write writes until the connection ends.
func (c *fakeConn) write() {
	for range c.out {
		c.server.mu.Lock()
		said := c.said
		c.said = nil
		c.server.mu.Unlock()
		if _, err := c.conn.Write(said); err != nil {
			c.conn.Close()
		}
	}
}

// serve answers commands until the connection ends.
func (c *fakeConn) serve() {
	for in := bufio.NewReader(c.conn); ; {
		command, err := readCommand(in)
		if err == nil {
			err = c.server.meddle(command[0])
		}
		if err != nil {
			break
		}
		c.server.mu.Lock()
		c.say(c.answer(command))
		c.server.mu.Unlock()
	}
	c.conn.Close()
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	c.isClosed = true
	delete(c.server.conns, c)
	close(c.out)
}

// meddle calls what is to be called ahead of a command.
func (s *fakeServer) meddle(command string) error {
	s.mu.Lock()
	s.counted++
	before, n := s.before, s.counted
	s.mu.Unlock()
	if before == nil {
		return nil
	}
	return before(n, strings.ToLower(command))
}

// readCommand reads an array of strings.
func readCommand(in *bufio.Reader) ([]string, error) {
	number := func(kind string) (int, error) {
		line, err := in.ReadString('\n')
		if err != nil {
			return 0, err
		}
		return strconv.Atoi(strings.TrimPrefix(strings.TrimSpace(line), kind))
	}
	n, err := number("*")
	var command []string
	for ; err == nil && n > 0; n-- {
		var size int
		if size, err = number("$"); err != nil {
			break
		}
		word := make([]byte, size+2)
		_, err = io.ReadFull(in, word)
		command = append(command, string(word[:size]))
	}
	return command, err
}

const (
	ok   = "+OK\r\n"
	none = "_\r\n"
)

func bulk(text string) string   { return fmt.Sprintf("$%d\r\n%s\r\n", len(text), text) }
func integer(n int) string      { return fmt.Sprintf(":%d\r\n", n) }
func failure(why string) string { return "-" + why + "\r\n" }

func array(items ...string) string {
	return fmt.Sprintf("*%d\r\n", len(items)) + strings.Join(items, "")
}

// answer returns the reply to a command. The server's lock is held.
func (c *fakeConn) answer(command []string) string {
	name, args := strings.ToLower(command[0]), command[1:]
	if c.isMulti && name != "exec" {
		c.queued = append(c.queued, command)
		return "+QUEUED\r\n"
	}
	switch name {
	case "hello":
		return "%1\r\n" + bulk("proto") + integer(3)
	case "ping":
		return "+PONG\r\n"
	case "client":
		return c.client(args)
	case "unsubscribe":
		return ">3\r\n" + bulk(name) + bulk(first(args)) + integer(0)
	case "watch":
		for _, key := range args {
			c.watched[key] = c.server.versions[key]
		}
		return ok
	case "unwatch":
		clear(c.watched)
		return ok
	case "multi":
		c.isMulti = true
		return ok
	case "exec":
		return c.exec()
	}
	return c.server.answer(name, args)
}

// client answers CLIENT.
func (c *fakeConn) client(args []string) string {
	if !strings.EqualFold(args[0], "tracking") {
		return ok
	}
	if c.server.refusesTracking {
		return failure("NOPERM this user has no permissions to run the 'client|tracking' command")
	}
	prefix := args[len(args)-1]
	c.prefix = &prefix
	return ok
}

// exec answers EXEC.
func (c *fakeConn) exec() string {
	queued, watched := c.queued, c.watched
	c.queued, c.isMulti, c.watched = nil, false, map[string]int{}
	for key, version := range watched {
		if c.server.versions[key] != version {
			return none
		}
	}
	var replies []string
	for _, command := range queued {
		replies = append(replies, c.answer(command))
	}
	return array(replies...)
}

// answer answers a command of data.
func (s *fakeServer) answer(name string, args []string) string {
	const wrongType = "WRONGTYPE Operation against a key holding the wrong kind of value"
	_, isHash := s.values[first(args)].(map[string]string)
	text, isText := s.values[first(args)].(string)
	_, there := s.values[first(args)]
	switch name {
	case "scan":
		return s.scan(slices.Sorted(maps.Keys(s.values)), args, func(key string) []string {
			return []string{bulk(key)}
		})
	case "mget":
		var values []string
		for _, key := range args {
			if text, is := s.values[key].(string); is {
				values = append(values, bulk(text))
			} else {
				values = append(values, none)
			}
		}
		return array(values...)
	case "get":
		switch {
		case isText:
			return bulk(text)
		case there:
			return failure(wrongType)
		}
		return none
	case "set":
		s.put(args[0], args[1])
		return ok
	case "del":
		s.put(args[0], nil)
		return integer(1)
	}
	if there && !isHash {
		return failure(wrongType)
	}
	switch name {
	case "hlen":
		return integer(len(s.hash(args[0])))
	case "hscan":
		fields := s.hash(args[0])
		return s.scan(slices.Sorted(maps.Keys(fields)), args[1:], func(field string) []string {
			return []string{bulk(field), bulk(fields[field])}
		})
	case "hset":
		for pair := range slices.Chunk(args[1:], 2) {
			s.putField(args[0], pair[0], &pair[1])
		}
		return integer(1)
	case "hdel":
		for _, field := range args[1:] {
			s.putField(args[0], field, nil)
		}
		return integer(1)
	}
	return failure("ERR unknown command '" + name + "'")
}

func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// scan answers a step of SCAN or HSCAN over names in their order. A cursor stands for the last name
// that was given, so that no name is left out that is there all the time.
func (s *fakeServer) scan(names, args []string, item func(name string) []string) string {
	from := 0
	if cursor, _ := strconv.Atoi(args[0]); cursor > 0 {
		after := s.cursors[cursor-1]
		from = len(names) - len(slices.DeleteFunc(slices.Clone(names), func(name string) bool {
			return name <= after
		}))
	}
	prefix := ""
	if at := slices.Index(args, "match"); at >= 0 {
		prefix = strings.TrimSuffix(strings.ReplaceAll(args[at+1], `\`, ""), "*")
	}
	end, next := min(from+s.page, len(names)), "0"
	if end < len(names) {
		s.cursors = append(s.cursors, names[end-1])
		next = strconv.Itoa(len(s.cursors))
	}
	if s.repeats {
		from = max(0, from-s.page)
	}
	var items []string
	for _, name := range names[from:end] {
		if strings.HasPrefix(name, prefix) {
			items = append(items, item(name)...)
		}
	}
	return array(bulk(next), array(items...))
}

// all returns all strings.
func (s *fakeServer) all() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[string]string{}
	for key, value := range s.values {
		if text, is := value.(string); is {
			all[key] = text
		}
	}
	return all
}
