/*
 * Load generator for HTTP/1.1: a number of connections, each with one call under way. A connection begins its next call
 * as soon as the last one is answered. One thread and epoll, so that it takes little of the machine it measures on.
 *
 * Usage: load PORT CONNECTIONS SECONDS REQUEST_FILE MIN_BODY_BYTES ENDING
 *
 * REQUEST_FILE holds the whole request, head and body. A call is right when its status is 200 and its body has at least
 * MIN_BODY_BYTES and ends with ENDING. Everything else counts as a failure, a closed connection too.
 *
 * Prints one line of JSON. Times are those of right calls, in milliseconds. A gap is the time between two arrivals of
 * body bytes within one call.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define EVENTS_AT_ONCE 512
#define READ_BYTES (256 * 1024)
/* Longer heads and chunk sizes than any gateway sends. */
#define LINE_BYTES (16 * 1024)
#define TAIL_BYTES 64
#define EXCERPT_BYTES 200
#define MESSAGE_BYTES 512
#define SAMPLES_AT_FIRST 64
/* No call begins after SECONDS. Those that are not answered so long after that have failed. */
#define PATIENCE_SECONDS 30

/* ---- Samples ---- */

struct samples {
  float *values;
  size_t count;
  size_t capacity;
};

static void die(const char *what) {
  perror(what);
  exit(2);
}

static void add_sample(struct samples *samples, uint64_t nanoseconds) {
  if (samples->count == samples->capacity) {
    samples->capacity = samples->capacity == 0 ? SAMPLES_AT_FIRST : samples->capacity * 2;
    samples->values = realloc(samples->values, samples->capacity * sizeof(float));
    if (samples->values == NULL) die("Cannot keep all samples");
  }
  samples->values[samples->count] = (float)nanoseconds / 1e6f;
  samples->count += 1;
}

static int compare_floats(const void *left, const void *right) {
  float a = *(const float *)left;
  float b = *(const float *)right;
  return (a > b) - (a < b);
}

static void sort_samples(struct samples *samples) {
  if (samples->count > 0) qsort(samples->values, samples->count, sizeof(float), compare_floats);
}

/* ---- State ---- */

enum phase {
  HEAD,
  BODY_OF_LENGTH,
  BODY_TO_CLOSE,
  CHUNK_SIZE,
  CHUNK_DATA,
  CHUNK_END,
  TRAILERS,
};

/* The answer that a connection is reading. */
struct answer {
  enum phase phase;
  int status;
  /* The server closes the connection after it. */
  bool closes;
  /* Of the body, or of the chunk. */
  uint64_t bytes_to_come;
  size_t body_bytes;
  uint64_t first_byte_at;
  uint64_t last_arrival_at;
  /* The last bytes of the body. */
  char tail[TAIL_BYTES];
  size_t tail_bytes;
  /* The first bytes of the body, for the message about a failure. */
  char excerpt[EXCERPT_BYTES];
  size_t excerpt_bytes;
};

struct connection {
  int fd;
  bool in_call;
  bool waits_for_room;
  uint64_t call_began_at;
  size_t sent;
  struct answer answer;
  /* A head, a chunk size or a trailer, of which the end has not come yet. */
  char *line;
  size_t line_bytes;
  struct samples gaps;
};

struct load {
  struct sockaddr_in address;
  char *request;
  size_t request_bytes;
  size_t min_body_bytes;
  const char *ending;
  int epoll;
  uint64_t last_begin_at;
  size_t calls_under_way;
  struct samples totals;
  struct samples first_bytes;
  struct samples gaps;
  uint64_t failures;
  char first_failure[MESSAGE_BYTES];
  char *received;
};

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000ull + (uint64_t)time.tv_nsec;
}

__attribute__((format(printf, 2, 3))) static void count_failure(struct load *load, const char *format, ...) {
  load->failures += 1;
  if (load->failures > 1) return;
  va_list values;
  va_start(values, format);
  vsnprintf(load->first_failure, MESSAGE_BYTES, format, values);
  va_end(values);
}

/* ---- Connections ---- */

static void watch(struct load *load, struct connection *connection, int operation, bool for_room) {
  struct epoll_event event = {
      .events = EPOLLIN | (for_room ? EPOLLOUT : 0),
      .data.ptr = connection,
  };
  if (epoll_ctl(load->epoll, operation, connection->fd, &event) != 0) die("epoll_ctl");
  connection->waits_for_room = for_room;
}

/* Connects, and returns whether it could. Waits meanwhile: on this machine that takes microseconds. */
static bool open_connection(struct load *load, struct connection *connection) {
  connection->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connection->fd < 0) die("Cannot open a socket");
  if (connect(connection->fd, (struct sockaddr *)&load->address, sizeof load->address) != 0) {
    close(connection->fd);
    connection->fd = -1;
    return false;
  }
  int one = 1;
  setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  fcntl(connection->fd, F_SETFL, O_NONBLOCK);
  watch(load, connection, EPOLL_CTL_ADD, false);
  return true;
}

/* Sends what the socket takes of the request. An error shows at the next read, as a closed connection does. */
static void send_request(struct load *load, struct connection *connection) {
  while (connection->sent < load->request_bytes) {
    const char *rest = load->request + connection->sent;
    ssize_t sent = send(connection->fd, rest, load->request_bytes - connection->sent, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) {
      bool is_full = errno == EAGAIN || errno == EWOULDBLOCK;
      if (is_full && !connection->waits_for_room) watch(load, connection, EPOLL_CTL_MOD, true);
      if (!is_full && connection->waits_for_room) watch(load, connection, EPOLL_CTL_MOD, false);
      return;
    }
    connection->sent += (size_t)sent;
  }
  if (connection->waits_for_room) watch(load, connection, EPOLL_CTL_MOD, false);
}

static void begin_call(struct load *load, struct connection *connection) {
  connection->answer = (struct answer){.phase = HEAD};
  connection->line_bytes = 0;
  connection->gaps.count = 0;
  connection->sent = 0;
  connection->in_call = true;
  connection->call_began_at = now();
  load->calls_under_way += 1;
  send_request(load, connection);
}

static bool is_over(struct load *load) {
  return now() >= load->last_begin_at;
}

static void begin_next_call(struct load *load, struct connection *connection) {
  if (!is_over(load)) begin_call(load, connection);
}

static void reconnect(struct load *load, struct connection *connection) {
  close(connection->fd);
  if (is_over(load)) {
    connection->fd = -1;
    return;
  }
  if (open_connection(load, connection)) {
    begin_call(load, connection);
    return;
  }
  /* It is given up: trying again at once would keep this loop busy. */
  count_failure(load, "cannot connect again: %s", strerror(errno));
}

static void end_call(struct load *load, struct connection *connection) {
  connection->in_call = false;
  load->calls_under_way -= 1;
}

/* ---- Answers ---- */

static bool ends_rightly(const struct answer *answer, const char *ending) {
  size_t length = strlen(ending);
  if (length > answer->tail_bytes) return false;
  return memcmp(answer->tail + answer->tail_bytes - length, ending, length) == 0;
}

/* Counts a whole answer, right or wrong. */
static void count_answer(struct load *load, struct connection *connection, uint64_t arrived_at) {
  const struct answer *answer = &connection->answer;
  if (answer->status != 200) {
    count_failure(load, "status %d: %.*s", answer->status, (int)answer->excerpt_bytes, answer->excerpt);
    return;
  }
  if (answer->body_bytes < load->min_body_bytes || !ends_rightly(answer, load->ending)) {
    count_failure(load, "status 200 with %zu bytes, which begin with %.*s and end with %.*s", answer->body_bytes,
                  (int)answer->excerpt_bytes, answer->excerpt, (int)answer->tail_bytes, answer->tail);
    return;
  }
  add_sample(&load->totals, arrived_at - connection->call_began_at);
  uint64_t first_byte_at = answer->body_bytes == 0 ? arrived_at : answer->first_byte_at;
  add_sample(&load->first_bytes, first_byte_at - connection->call_began_at);
  for (size_t index = 0; index < connection->gaps.count; index += 1) {
    add_sample(&load->gaps, (uint64_t)(connection->gaps.values[index] * 1e6f));
  }
}

/* Ends a call with a whole answer, and begins the next. */
static void finish_answer(struct load *load, struct connection *connection, uint64_t arrived_at, size_t bytes_behind) {
  count_answer(load, connection, arrived_at);
  end_call(load, connection);
  if (bytes_behind > 0) count_failure(load, "%zu bytes came behind the end of an answer", bytes_behind);
  /* An answer that came before the whole request was sent leaves the connection in the middle of that request. */
  bool is_half_sent = connection->sent < load->request_bytes;
  if (connection->answer.closes || is_half_sent || bytes_behind > 0) reconnect(load, connection);
  else begin_next_call(load, connection);
}

static void fail_call(struct load *load, struct connection *connection, const char *why) {
  count_failure(load, "%s, after %zu bytes of the body", why, connection->answer.body_bytes);
  end_call(load, connection);
  reconnect(load, connection);
}

static void take_body(struct connection *connection, const char *bytes, size_t count, uint64_t arrived_at) {
  struct answer *answer = &connection->answer;
  if (count == 0) return;
  if (answer->body_bytes == 0) answer->first_byte_at = arrived_at;
  else if (arrived_at != answer->last_arrival_at) add_sample(&connection->gaps, arrived_at - answer->last_arrival_at);
  answer->last_arrival_at = arrived_at;
  answer->body_bytes += count;
  if (answer->excerpt_bytes < EXCERPT_BYTES) {
    size_t room = EXCERPT_BYTES - answer->excerpt_bytes;
    size_t taken = count < room ? count : room;
    memcpy(answer->excerpt + answer->excerpt_bytes, bytes, taken);
    answer->excerpt_bytes += taken;
  }
  if (count >= TAIL_BYTES) {
    memcpy(answer->tail, bytes + count - TAIL_BYTES, TAIL_BYTES);
    answer->tail_bytes = TAIL_BYTES;
    return;
  }
  size_t kept = answer->tail_bytes + count > TAIL_BYTES ? TAIL_BYTES - count : answer->tail_bytes;
  memmove(answer->tail, answer->tail + answer->tail_bytes - kept, kept);
  memcpy(answer->tail + kept, bytes, count);
  answer->tail_bytes = kept + count;
}

/* Returns the value of a header, or NULL. `name` begins with the line end before it and ends with the colon. */
static const char *find_header(const char *head, const char *name) {
  const char *found = strcasestr(head, name);
  if (found == NULL) return NULL;
  found += strlen(name);
  return found + strspn(found, " \t");
}

static bool begins_with(const char *text, const char *word) {
  return text != NULL && strncasecmp(text, word, strlen(word)) == 0;
}

/* Reads a head. Returns whether the answer ends with it. */
static bool read_head(struct answer *answer, const char *head) {
  if (sscanf(head, "HTTP/1.%*1d %d", &answer->status) != 1) answer->status = 0;
  if (answer->status >= 100 && answer->status < 200) {
    /* The answer proper is still to come. */
    answer->phase = HEAD;
    return false;
  }
  const char *length = find_header(head, "\r\ncontent-length:");
  answer->closes = begins_with(find_header(head, "\r\nconnection:"), "close");
  if (begins_with(find_header(head, "\r\ntransfer-encoding:"), "chunked")) {
    answer->phase = CHUNK_SIZE;
    return false;
  }
  if (answer->status == 204 || answer->status == 304) return true;
  if (length != NULL) {
    answer->phase = BODY_OF_LENGTH;
    answer->bytes_to_come = strtoull(length, NULL, 10);
    return answer->bytes_to_come == 0;
  }
  answer->phase = BODY_TO_CLOSE;
  answer->closes = true;
  return false;
}

/* Reads the size of a chunk; returns false when it is none. */
static bool read_chunk_size(struct answer *answer, const char *line) {
  char *end;
  answer->bytes_to_come = strtoull(line, &end, 16);
  if (end == line) return false;
  answer->phase = answer->bytes_to_come == 0 ? TRAILERS : CHUNK_DATA;
  return true;
}

enum step { MORE, ANSWERED, MALFORMED };

/* Goes on with a line (or a head) that has come whole and ends with a NUL. */
static enum step read_line(struct answer *answer, const char *line) {
  switch (answer->phase) {
    case HEAD:
      return read_head(answer, line) ? ANSWERED : MORE;
    case CHUNK_SIZE:
      return read_chunk_size(answer, line) ? MORE : MALFORMED;
    case CHUNK_END:
      answer->phase = CHUNK_SIZE;
      return line[0] == '\0' ? MORE : MALFORMED;
    default:
      /* Trailers end with an empty line. */
      return line[0] == '\0' ? ANSWERED : MORE;
  }
}

/* Adds received bytes to the line until its end has come. Returns how many bytes it used. */
static size_t take_line(struct connection *connection, const char *bytes, size_t count, enum step *step) {
  struct answer *answer = &connection->answer;
  const char *terminator = answer->phase == HEAD ? "\r\n\r\n" : "\r\n";
  size_t terminator_bytes = strlen(terminator);
  size_t before = connection->line_bytes;
  size_t room = LINE_BYTES - 1 - before;
  size_t taken = count < room ? count : room;
  memcpy(connection->line + before, bytes, taken);
  /* The terminator may have begun among the bytes that were there. */
  size_t from = before < terminator_bytes ? 0 : before - (terminator_bytes - 1);
  char *end = memmem(connection->line + from, before + taken - from, terminator, terminator_bytes);
  if (end == NULL) {
    connection->line_bytes = before + taken;
    *step = taken == room ? MALFORMED : MORE;
    return taken;
  }
  *end = '\0';
  *step = read_line(answer, connection->line);
  connection->line_bytes = 0;
  return (size_t)(end - connection->line) + terminator_bytes - before;
}

/* Takes as much of the body as is there. Returns how many bytes it used. */
static size_t take_data(struct connection *connection, const char *bytes, size_t count, uint64_t arrived_at,
                        enum step *step) {
  struct answer *answer = &connection->answer;
  *step = MORE;
  if (answer->phase == BODY_TO_CLOSE) {
    take_body(connection, bytes, count, arrived_at);
    return count;
  }
  size_t taken = count < answer->bytes_to_come ? count : (size_t)answer->bytes_to_come;
  take_body(connection, bytes, taken, arrived_at);
  answer->bytes_to_come -= taken;
  if (answer->bytes_to_come > 0) return taken;
  if (answer->phase == CHUNK_DATA) answer->phase = CHUNK_END;
  else *step = ANSWERED;
  return taken;
}

/* Reads on in the answer. */
static void take_bytes(struct load *load, struct connection *connection, const char *bytes, size_t count,
                       uint64_t arrived_at) {
  size_t used = 0;
  while (used < count) {
    enum phase phase = connection->answer.phase;
    bool is_data = phase == BODY_OF_LENGTH || phase == BODY_TO_CLOSE || phase == CHUNK_DATA;
    enum step step;
    if (is_data) used += take_data(connection, bytes + used, count - used, arrived_at, &step);
    else used += take_line(connection, bytes + used, count - used, &step);
    if (step == MALFORMED) {
      fail_call(load, connection, "malformed answer");
      return;
    }
    if (step == ANSWERED) {
      finish_answer(load, connection, arrived_at, count - used);
      return;
    }
  }
}

/* Goes on when the server has closed the connection, or it broke. */
static void take_close(struct load *load, struct connection *connection, const char *why) {
  if (!connection->in_call) {
    reconnect(load, connection);
    return;
  }
  bool is_end = connection->answer.phase == BODY_TO_CLOSE && strcmp(why, "closed") == 0;
  if (is_end) {
    finish_answer(load, connection, now(), 0);
    return;
  }
  char message[MESSAGE_BYTES];
  snprintf(message, sizeof message, "connection %s in a call", why);
  fail_call(load, connection, message);
}

static void read_connection(struct load *load, struct connection *connection) {
  ssize_t count = read(connection->fd, load->received, READ_BYTES);
  uint64_t arrived_at = now();
  if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return;
  if (count < 0) {
    take_close(load, connection, errno == ECONNRESET ? "reset" : "broken");
    return;
  }
  if (count == 0) {
    take_close(load, connection, "closed");
    return;
  }
  if (connection->in_call) {
    take_bytes(load, connection, load->received, (size_t)count, arrived_at);
    return;
  }
  count_failure(load, "%zd bytes came when no call was under way", count);
  reconnect(load, connection);
}

/* ---- Run ---- */

static void run(struct load *load, struct connection *connections, size_t count) {
  struct epoll_event events[EVENTS_AT_ONCE];
  uint64_t give_up_at = load->last_begin_at + PATIENCE_SECONDS * 1000000000ull;
  for (size_t index = 0; index < count; index += 1) begin_call(load, &connections[index]);
  while (load->calls_under_way > 0 && now() < give_up_at) {
    int ready = epoll_wait(load->epoll, events, EVENTS_AT_ONCE, 1000);
    if (ready < 0 && errno != EINTR) die("epoll_wait");
    for (int index = 0; index < ready; index += 1) {
      struct connection *connection = events[index].data.ptr;
      if (events[index].events & EPOLLOUT) send_request(load, connection);
      if (events[index].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) read_connection(load, connection);
    }
  }
  for (size_t index = 0; index < count; index += 1) {
    if (connections[index].in_call) count_failure(load, "no whole answer within %d s of the end", PATIENCE_SECONDS);
  }
}

static void print_percentile(const char *name, const struct samples *sorted, double fraction) {
  if (sorted->count == 0) {
    printf(",\"%s\":null", name);
    return;
  }
  size_t rank = (size_t)((double)sorted->count * fraction + 0.999999);
  size_t index = rank == 0 ? 0 : rank - 1;
  printf(",\"%s\":%.4f", name, (double)sorted->values[index < sorted->count ? index : sorted->count - 1]);
}

static void print_text(const char *text) {
  putchar('"');
  for (const char *next = text; *next != '\0'; next += 1) {
    unsigned char byte = (unsigned char)*next;
    if (byte == '"' || byte == '\\') printf("\\%c", byte);
    else if (byte < 0x20 || byte > 0x7e) printf("\\u%04x", byte);
    else putchar(byte);
  }
  putchar('"');
}

static void print_result(struct load *load, double seconds) {
  sort_samples(&load->totals);
  sort_samples(&load->first_bytes);
  sort_samples(&load->gaps);
  printf("{\"calls\":%zu,\"seconds\":%.4f", load->totals.count, seconds);
  printf(",\"callsPerSecond\":%.1f", (double)load->totals.count / seconds);
  print_percentile("totalP50Ms", &load->totals, 0.5);
  print_percentile("totalP99Ms", &load->totals, 0.99);
  print_percentile("firstByteP50Ms", &load->first_bytes, 0.5);
  print_percentile("firstByteP99Ms", &load->first_bytes, 0.99);
  print_percentile("gapP50Ms", &load->gaps, 0.5);
  print_percentile("gapP99Ms", &load->gaps, 0.99);
  printf(",\"failures\":%llu,\"firstFailure\":", (unsigned long long)load->failures);
  if (load->failures == 0) printf("null");
  else print_text(load->first_failure);
  printf("}\n");
}

static void read_request(struct load *load, const char *path) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) die(path);
  fseek(file, 0, SEEK_END);
  long size = ftell(file);
  rewind(file);
  if (size <= 0) {
    fprintf(stderr, "%s: no request in it\n", path);
    exit(2);
  }
  load->request = malloc((size_t)size);
  load->request_bytes = (size_t)size;
  if (load->request == NULL || fread(load->request, 1, (size_t)size, file) != (size_t)size) die(path);
  fclose(file);
}

/* Takes as many descriptors as it may. Each connection is one. */
static void raise_file_limit(size_t connections) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) die("getrlimit");
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max < connections + 16) {
    fprintf(stderr, "%zu connections need more than the %llu open files that this process may have (ulimit -Hn)\n",
            connections, (unsigned long long)limit.rlim_max);
    exit(2);
  }
}

int main(int argc, char **argv) {
  if (argc != 7) {
    fprintf(stderr, "Usage: load PORT CONNECTIONS SECONDS REQUEST_FILE MIN_BODY_BYTES ENDING\n");
    return 2;
  }
  size_t count = strtoul(argv[2], NULL, 10);
  double seconds = strtod(argv[3], NULL);
  if (count == 0 || !(seconds > 0) || strlen(argv[6]) > TAIL_BYTES) {
    fprintf(stderr, "CONNECTIONS and SECONDS must be positive, and ENDING at most %d bytes\n", TAIL_BYTES);
    return 2;
  }
  struct load load = {
      .address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argv[1]))},
      .min_body_bytes = strtoul(argv[5], NULL, 10),
      .ending = argv[6],
      .epoll = epoll_create1(EPOLL_CLOEXEC),
      .received = malloc(READ_BYTES),
  };
  load.address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (load.epoll < 0 || load.received == NULL) die("Cannot start");
  raise_file_limit(count);
  read_request(&load, argv[4]);
  struct connection *connections = calloc(count, sizeof *connections);
  if (connections == NULL) die("Cannot start");
  for (size_t index = 0; index < count; index += 1) {
    connections[index].line = malloc(LINE_BYTES);
    if (connections[index].line == NULL) die("Cannot start");
    if (!open_connection(&load, &connections[index])) die("Cannot connect");
  }
  uint64_t began_at = now();
  load.last_begin_at = began_at + (uint64_t)(seconds * 1e9);
  run(&load, connections, count);
  print_result(&load, (double)(now() - began_at) / 1e9);
  return 0;
}
