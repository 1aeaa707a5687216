// Closed-loop load on loopback ports, in one thread: every connection keeps a window of requests in flight.
//
//   blast CONNECTIONS WINDOW WARM_SECONDS SECONDS [STEPS [EVERY]] < plan
//
// The plan is a row of entries, numbers little endian: u32 connection, u32 its port, u32 request size, u32 answer size, request, answer. A request is
// a whole frame as it goes on the wire; the answer is what must come back after the length and the correlation id. A connection cycles
// through its requests. Each answer is compared with the one that belongs to its request, so a fast wrong answer does not count.
//
// With STEPS the requests of a connection are cycles of so many: each cycle has one request in flight, and the next one follows its answer. An
// answer that differs in nothing but an error CONCURRENT_TRANSACTIONS is a retry: the request is sent again a millisecond later. Cycles are counted
// then, not answers, and the times are those of whole cycles.
//
// With EVERY seconds (and 0 STEPS) the load is paced: each connection sends a request every so many seconds, all of them evenly spread, and
// whether or not its window is full. A request that waits for room in the window counts from the time at which it was due.
//
// Prints one line of JSON; exit code 1 when a connection breaks or nothing arrives for ten seconds.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#ifdef TLS
#include <openssl/ssl.h>
// What is left of a TLS record is in memory, where epoll does not see it.
enum { READS_ALL = 1 };
#else
enum { READS_ALL = 0 };
#endif

enum { CONCURRENT_TRANSACTIONS = 51 };
static const double RETRY_S = 0.001;
enum { PREFIX = 8, MAX_WINDOW = 1024, READ_SIZE = 1 << 16, BIN_COUNT = 1 << 21 };  // bins of one microsecond, two seconds of them

typedef struct {
    char *request, *answer;
    uint32_t request_size, answer_size;
} Exchange;

typedef struct {
    uint32_t step;
    int is_in_flight;
    double began, due;              // the cycle; the next request, not before
} Cycle;

typedef struct {
    Cycle *cycles;
#ifdef TLS
    SSL *tls;
#endif
    int fd, port, is_stuck;               // is_stuck: the socket takes no more for now, epoll tells when it does
    Exchange *exchanges;
    uint32_t count, next;           // of exchanges, and the one to send next
    uint32_t sent, answered;        // requests, ever
    uint32_t owed;                  // requests that may be sent: any number, unless the load is paced
    double due;                     // since when a request waits for the window, or 0
    double started[MAX_WINDOW];     // by request number modulo the window
    uint32_t which[MAX_WINDOW];     // the exchange of that request
    char *in, *out;
    size_t in_size, in_capacity, out_start, out_end, out_capacity;
} Connection;

static uint32_t window, steps;
static double every;                    // seconds between two requests of a connection, or 0
static uint64_t bins[BIN_COUNT], answers, wrong, retries;
static double longest;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void die(const char *what) {
    fprintf(stderr, "blast: %s (after %llu answers)\n", what, (unsigned long long)answers);
    exit(1);
}

static void *grow(void *memory, size_t size) {
    memory = realloc(memory, size);
    if (!memory) die("out of memory");
    return memory;
}

static char *take(FILE *file, uint32_t size) {
    char *bytes = grow(NULL, size + 1);
    if (fread(bytes, 1, size, file) != size) die("the plan is cut short");
    return bytes;
}

static void read_plan(Connection *connections, uint32_t count) {
    uint32_t head[4];
    while (fread(head, sizeof head[0], 4, stdin) == 4) {
        if (head[0] >= count) die("the plan names a connection that there is not");
        Connection *c = &connections[head[0]];
        c->exchanges = grow(c->exchanges, (c->count + 1) * sizeof(Exchange));
        Exchange *e = &c->exchanges[c->count++];
        c->port = (int)head[1];
        e->request_size = head[2], e->answer_size = head[3];
        e->request = take(stdin, head[2]), e->answer = take(stdin, head[3]);
    }
}

// With -DTLS every connection has TLS, and certificates are not checked.
#ifdef TLS
static void begin_tls(Connection *c) {
    static SSL_CTX *context;
    if (!context) context = SSL_CTX_new(TLS_client_method());
    c->tls = SSL_new(context);
    SSL_set_fd(c->tls, c->fd);
    SSL_set_mode(c->tls, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    if (SSL_connect(c->tls) != 1) die("the TLS handshake failed");
}

static ssize_t transferred(Connection *c, int n) {
    if (n > 0) return n;
    int why = SSL_get_error(c->tls, n);
    errno = why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE ? EAGAIN : EPROTO;
    return why == SSL_ERROR_ZERO_RETURN ? 0 : -1;
}

static ssize_t write_some(Connection *c, const char *from, size_t size) { return transferred(c, SSL_write(c->tls, from, (int)size)); }

static ssize_t read_some(Connection *c, char *to, size_t size) { return transferred(c, SSL_read(c->tls, to, (int)size)); }
#else
static void begin_tls(Connection *c) { (void)c; }

static ssize_t write_some(Connection *c, const char *from, size_t size) { return send(c->fd, from, size, MSG_NOSIGNAL); }

static ssize_t read_some(Connection *c, char *to, size_t size) { return recv(c->fd, to, size, 0); }
#endif

static void open_connection(Connection *c, int poll) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)c->port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int on = 1;
    if (!c->count) die("the plan has no requests for a connection");
    c->fd = socket(AF_INET, SOCK_STREAM, 0);
    if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&address, sizeof address)) die(strerror(errno));
    begin_tls(c);
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    fcntl(c->fd, F_SETFL, O_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
    if (epoll_ctl(poll, EPOLL_CTL_ADD, c->fd, &event)) die(strerror(errno));
}

static void flush(Connection *c, int poll) {
    while (c->out_start < c->out_end) {
        ssize_t n = write_some(c, c->out + c->out_start, c->out_end - c->out_start);
        if (n < 0 && errno != EAGAIN) die(strerror(errno));
        if (n < 0) break;
        c->out_start += (size_t)n;
    }
    int is_stuck = c->out_start < c->out_end;
    if (!is_stuck) c->out_start = c->out_end = 0;
    if (is_stuck == c->is_stuck) return;
    struct epoll_event event = {.events = EPOLLIN | (is_stuck ? EPOLLOUT : 0), .data.ptr = c};
    if (epoll_ctl(poll, EPOLL_CTL_MOD, c->fd, &event)) die(strerror(errno));
    c->is_stuck = is_stuck;
}

static void send_one(Connection *c, uint32_t which, double at) {
    Exchange *e = &c->exchanges[which];
    if (c->out_end + e->request_size > c->out_capacity) c->out = grow(c->out, c->out_capacity = (c->out_end + e->request_size) * 2);
    memcpy(c->out + c->out_end, e->request, e->request_size);
    c->out_end += e->request_size;
    c->which[c->sent % MAX_WINDOW] = which;
    c->started[c->sent++ % MAX_WINDOW] = at;
}

static void fill_window(Connection *c, int poll) {
    double at = now();
    for (uint32_t i = 0; steps && i < c->count / steps; i++) {
        Cycle *cycle = &c->cycles[i];
        if (cycle->is_in_flight || cycle->due > at) continue;
        if (!cycle->step && !cycle->due) cycle->began = at;
        cycle->is_in_flight = 1;
        send_one(c, i * steps + cycle->step, at);
    }
    while (!steps && c->owed > 0 && c->sent - c->answered < window) {
        send_one(c, c->next, c->due ? c->due : at);
        c->next = (c->next + 1) % c->count;
        if (every) c->owed--, c->due = 0;
    }
    if (every && c->owed && !c->due) c->due = at;
    flush(c, poll);
}

// Send what is due by now, in the order of the connections: the n-th request of all is due n times EVERY / connections after the start.
static double send_due(Connection *connections, uint32_t count, uint64_t *sent, double start, int poll) {
    for (;;) {
        double due = start + (double)*sent * every / count;
        if (due > now()) return due;
        Connection *c = &connections[(*sent)++ % count];
        c->owed++;
        fill_window(c, poll);
    }
}

// Wait until then, or until there is something to read. The timeout of epoll_wait is in whole milliseconds.
static void wait_until(double then, int poll) {
    double left = then - now();
    struct timespec time = {.tv_sec = 0, .tv_nsec = left <= 0 ? 0 : left > 0.5 ? 500000000 : (long)(left * 1e9)};
    struct pollfd ready = {.fd = poll, .events = POLLIN};
    ppoll(&ready, 1, &time, NULL);
}

static void count_time(double seconds) {
    uint64_t microseconds = (uint64_t)(seconds * 1e6);
    bins[microseconds < BIN_COUNT ? microseconds : BIN_COUNT - 1]++;
    if (seconds > longest) longest = seconds;
    answers++;
}

// Whether an answer is the expected one but for an error, which tells to try again.
static int is_retry(const char *answer, uint32_t size, const Exchange *e) {
    uint32_t differences = 0, errors = 0;
    for (uint32_t i = 0; size == e->answer_size && i < size; i++)
        if (answer[i] != e->answer[i]) differences++, errors += answer[i] == CONCURRENT_TRANSACTIONS && !e->answer[i];
    return differences == 1 && errors == 1;
}

static void step_on(Connection *c, uint32_t which, int is_right, int is_again, double at) {
    Cycle *cycle = &c->cycles[which / steps];
    cycle->is_in_flight = 0, cycle->due = 0;
    if (is_again) {
        retries++, cycle->due = at + RETRY_S;
        return;
    }
    wrong += !is_right;
    cycle->step = (cycle->step + 1) % steps;
    if (!cycle->step) count_time(at - cycle->began);
}

static void take_answers(Connection *c) {
    size_t position = 0;
    double at = now();
    while (c->in_size - position >= PREFIX) {
        const char *frame = c->in + position;
        uint32_t size;
        memcpy(&size, frame, 4);
        size = ntohl(size);
        if (c->in_size - position < 4 + (size_t)size) break;
        uint32_t slot = c->answered++ % MAX_WINDOW;
        Exchange *e = &c->exchanges[c->which[slot]];
        int is_right = size == 4 + e->answer_size && !memcmp(frame + 4, e->request + 8, 4) && !memcmp(frame + PREFIX, e->answer, e->answer_size);
        if (steps) {
            step_on(c, c->which[slot], is_right, !is_right && is_retry(frame + PREFIX, size - 4, e), at);
        } else {
            wrong += !is_right;
            count_time(at - c->started[slot]);
        }
        position += 4 + size;
    }
    memmove(c->in, c->in + position, c->in_size - position);
    c->in_size -= position;
}

static void receive(Connection *c) {
    for (;;) {
        if (c->in_capacity - c->in_size < READ_SIZE) c->in = grow(c->in, c->in_capacity = c->in_capacity * 2 + READ_SIZE);
        ssize_t n = read_some(c, c->in + c->in_size, c->in_capacity - c->in_size);
        if (n == 0) die("the server closed a connection");
        if (n < 0 && errno == EAGAIN) return;
        if (n < 0) die(strerror(errno));
        c->in_size += (size_t)n;
        if (c->in_size < c->in_capacity && !READS_ALL) return;
    }
}

static double quantile_ms(double q) {
    uint64_t seen = 0, wanted = (uint64_t)((double)answers * q);
    for (uint32_t bin = 0; bin < BIN_COUNT; bin++)
        if ((seen += bins[bin]) > wanted) return bin / 1000.0;
    return BIN_COUNT / 1000.0;
}

int main(int argc, char **argv) {
    if (argc < 5 || argc > 7) {
        fprintf(stderr, "usage: blast CONNECTIONS WINDOW WARM_SECONDS SECONDS [STEPS [EVERY]] < plan\n");
        return 2;
    }
    int poll = epoll_create1(0), is_measuring = 0;
    uint32_t count = (uint32_t)atoi(argv[1]);
    window = (uint32_t)atoi(argv[2]), steps = argc > 5 ? (uint32_t)atoi(argv[5]) : 0, every = argc > 6 ? atof(argv[6]) : 0;
    if (window < 1 || window > MAX_WINDOW || count < 1) die("the window is 1 to 1024, connections at least one");
    Connection *connections = calloc(count, sizeof *connections);
    read_plan(connections, count);
    for (uint32_t i = 0; i < count; i++) {
        open_connection(&connections[i], poll);
        connections[i].cycles = calloc(connections[i].count + 1, sizeof(Cycle));
        connections[i].owed = every ? 0 : 1;
    }
    double start = now(), measure_from = start + atof(argv[3]), started = 0, heard = start, end = measure_from + atof(argv[4]);
    uint64_t paced = 0;
    for (uint32_t i = 0; !every && i < count; i++) fill_window(&connections[i], poll);
    for (;;) {
        struct epoll_event events[256];
        if (every) wait_until(send_due(connections, count, &paced, start, poll), poll);
        int ready = epoll_wait(poll, events, 256, every ? 0 : steps ? 1 : 10000);
        double at = now();
        if (ready > 0) heard = at;
        if (at - heard > 10) die("no answer for ten seconds");
        if (at >= end) break;
        if (!is_measuring && at >= measure_from) {
            is_measuring = 1, started = at, answers = 0, retries = 0, longest = 0;
            memset(bins, 0, sizeof bins);
        }
        for (int i = 0; i < ready; i++) {
            Connection *c = events[i].data.ptr;
            if (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) {
                receive(c);
                take_answers(c);
            }
            fill_window(c, poll);
        }
        for (uint32_t i = 0; steps && i < count; i++) fill_window(&connections[i], poll);
    }
    if (!answers) die("nothing was measured");
    printf("{\"per_second\": %.0f, \"p50_ms\": %.3f, \"p99_ms\": %.3f, \"p999_ms\": %.3f, \"answers\": %llu, \"wrong\": %llu, "
           "\"longest_ms\": %.3f, \"retries\": %llu}\n",
           (double)answers / (now() - started), quantile_ms(0.5), quantile_ms(0.99), quantile_ms(0.999), (unsigned long long)answers,
           (unsigned long long)wrong, longest * 1000, (unsigned long long)retries);
    return 0;
}
