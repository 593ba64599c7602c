/* The floor: the least that a client of MySQL or MariaDB can spend on a prepared point select.
 *
 * One thread, C connections, one statement under way on each: SELECT c FROM sbtest1 WHERE id = ?
 * by the binary protocol, ids drawn uniformly. Answers are read no further than to their end, and
 * nothing is measured but their number and the CPU of this process, both over T seconds after one
 * second of warm-up. root without a password.
 *
 * Build: cc -O2 -Wall -o floor bench/floor.c
 * Usage: floor SOCKET-PATH|PORT DATABASE CONNECTIONS SECONDS ROWS
 * Prints one line: queries N seconds S cpu_us_per_query U queries_per_second Q
 */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* CONNECT_WITH_DB, PROTOCOL_41, SECURE_CONNECTION, PLUGIN_AUTH, DEPRECATE_EOF */
enum { CAPABILITIES = 0x01088208, BUFFER = 4096, EVENTS = 64 };

struct link {
    int fd;
    uint32_t statement;
    size_t held; /* bytes of an answer that has not ended */
    unsigned char buffer[BUFFER];
};

static void fail(const char *what) {
    perror(what);
    exit(3);
}

static void refused(const unsigned char *message, size_t length) {
    fprintf(stderr, "floor: the server says: %.*s\n", (int)length, message);
    exit(3);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static double cpu(void) {
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return u.ru_utime.tv_sec + u.ru_stime.tv_sec + (u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static int connect_to(const char *where) {
    struct sockaddr_un path = {.sun_family = AF_UNIX};
    struct sockaddr_in port = {.sin_family = AF_INET, .sin_port = htons(atoi(where))};
    port.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int is_path = strchr(where, '/') != NULL, one = 1;
    int fd = socket(is_path ? AF_UNIX : AF_INET, SOCK_STREAM, 0);
    strncpy(path.sun_path, where, sizeof path.sun_path - 1);
    struct sockaddr *to = is_path ? (struct sockaddr *)&path : (struct sockaddr *)&port;
    if (connect(fd, to, is_path ? sizeof path : sizeof port) != 0) fail(where);
    if (!is_path) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fd;
}

static void send_all(int fd, const void *bytes, size_t length) {
    if (send(fd, bytes, length, MSG_NOSIGNAL) != (ssize_t)length) fail("send");
}

static void send_packet(int fd, unsigned char sequence, const void *payload, size_t length) {
    unsigned char packet[512] = {length, length >> 8, 0, sequence};
    memcpy(packet + 4, payload, length);
    send_all(fd, packet, 4 + length);
}

/* Reads one packet, blocking; returns its first byte. */
static unsigned char read_packet(struct link *l) {
    if (recv(l->fd, l->buffer, 4, MSG_WAITALL) != 4) fail("recv");
    size_t length = l->buffer[0] | l->buffer[1] << 8;
    if (length > BUFFER) length = BUFFER; /* and then the next read finds nonsense */
    if (recv(l->fd, l->buffer, length, MSG_WAITALL) != (ssize_t)length) fail("recv");
    if (l->buffer[0] == 0xff) refused(l->buffer + 3, length - 3);
    return l->buffer[0];
}

static void log_in(struct link *l, const char *where, const char *database) {
    unsigned char hello[256] = {0};
    uint32_t capabilities = CAPABILITIES;
    memcpy(hello, &capabilities, 4);
    hello[7] = 1;  /* packets of 16 MiB */
    hello[8] = 45; /* utf8mb4 */
    /* 23 zero bytes, then user, an empty proof, database and plugin */
    size_t at = 32 + sprintf((char *)hello + 32, "root") + 2;
    at += sprintf((char *)hello + at, "%.64s", database) + 1;
    at += sprintf((char *)hello + at, "mysql_native_password") + 1;
    l->fd = connect_to(where);
    read_packet(l);
    send_packet(l->fd, 1, hello, at);
    if (read_packet(l) == 0xfe) { /* by another plugin, whose proof is empty, too */
        send_packet(l->fd, 3, "", 0);
        read_packet(l);
    }
    static const char sql[] = "\x16SELECT c FROM sbtest1 WHERE id = ?";
    send_packet(l->fd, 0, sql, sizeof sql - 1);
    read_packet(l);
    memcpy(&l->statement, l->buffer + 1, 4);
    read_packet(l); /* the description of the parameter, and that of the column */
    read_packet(l);
}

static void execute(struct link *l, uint32_t rows) {
    static uint64_t seed = 88172645463325252;
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    uint64_t id = 1 + (seed >> 32) * rows / 4294967296;
    /* COM_STMT_EXECUTE: no cursor, once, no NULLs, and one value of eight bytes */
    unsigned char packet[26] = {22, 0, 0, 0, 0x17, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 8, 0};
    memcpy(packet + 5, &l->statement, 4);
    memcpy(packet + 18, &id, 8);
    send_all(l->fd, packet, sizeof packet);
}

/* Reads what is there; returns whether the answer has ended: by 0xfe, an OK in its place. */
static int answered(struct link *l) {
    ssize_t count = recv(l->fd, l->buffer + l->held, BUFFER - l->held, 0);
    if (count <= 0) fail("recv");
    size_t end = l->held + count, at = 0;
    while (at + 4 < end) {
        size_t next = at + 4 + (l->buffer[at] | l->buffer[at + 1] << 8);
        if (next > end) break;
        if (l->buffer[at + 4] == 0xff) refused(l->buffer + at + 7, next - at - 7);
        if (l->buffer[at + 4] == 0xfe) return l->held = 0, 1;
        at = next;
    }
    memmove(l->buffer, l->buffer + at, end - at);
    l->held = end - at;
    return 0;
}

int main(int count, char **words) {
    if (count != 6) {
        fprintf(stderr, "usage: floor SOCKET-PATH|PORT DATABASE CONNECTIONS SECONDS ROWS\n");
        return 2;
    }
    int connections = atoi(words[3]), epoll = epoll_create1(0);
    double seconds = atof(words[4]);
    uint32_t rows = atoi(words[5]);
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    struct link *links = calloc(connections, sizeof *links);
    for (int i = 0; i < connections; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &links[i]};
        log_in(&links[i], words[1], words[2]);
        if (epoll_ctl(epoll, EPOLL_CTL_ADD, links[i].fd, &event) != 0) fail("epoll_ctl");
    }
    for (int i = 0; i < connections; i++) execute(&links[i], rows);
    struct epoll_event events[EVENTS];
    double from = now() + 1, begun = 0, spent = 0;
    for (uint64_t queries = 0;;) {
        int ready = epoll_wait(epoll, events, EVENTS, -1);
        for (int i = 0; i < ready; i++) {
            struct link *l = events[i].data.ptr;
            if (answered(l)) queries++, execute(l, rows);
        }
        double present = now();
        if (!begun && present >= from) begun = present, spent = cpu(), queries = 0;
        if (begun && present >= begun + seconds) {
            double per = (cpu() - spent) * 1e6 / queries, took = present - begun;
            printf("queries %llu seconds %.3f cpu_us_per_query %.3f queries_per_second %.0f\n",
                   (unsigned long long)queries, took, per, queries / took);
            return 0;
        }
    }
}
