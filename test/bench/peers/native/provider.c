/*
 * Scripted provider in the manner of OpenAI: answers chat completions with text made beforehand. One thread and epoll,
 * so that it is not the limit of what is measured.
 *
 * Usage: provider
 *
 * Listens on a free port of 127.0.0.1 and prints it. A request says in its text how it is to be answered, because text
 * is what every gateway passes on:
 *   "answer: bytes=51200"   one JSON body of that size
 *   "answer: pace=5000"     a stream of 20 events, so many microseconds apart; 0: back to back
 * Any other POST gets a body of 1 KB, any GET a list of models. On SIGTERM it prints what it has answered, and ends.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define EVENTS_AT_ONCE 512
#define READ_BYTES (64 * 1024)
#define MAX_REQUEST_BYTES (64u * 1024 * 1024)
#define BACKLOG 4096
#define STREAM_EVENTS 20
/* The events, one with the usage, and the end. */
#define FRAMES (STREAM_EVENTS + 2)
#define USAGE_FRAME STREAM_EVENTS
#define BODY_SIZES 16
#define MIN_BODY_BYTES 512
#define MAX_BODY_BYTES (16u * 1024 * 1024)
#define ORDINARY_BODY_BYTES 1024

#define MODEL "gpt-4o-mini"
#define ID "chatcmpl-AbCdEfGhIjKlMnOpQrStUvWxYz012"

static void die(const char *what) {
  perror(what);
  exit(2);
}

/* ---- Bytes ---- */

struct buffer {
  char *data;
  size_t length;
  size_t capacity;
};

/* Makes room for so many bytes more. */
static void reserve(struct buffer *buffer, size_t more) {
  size_t needed = buffer->length + more;
  if (needed <= buffer->capacity) return;
  size_t capacity = buffer->capacity == 0 ? READ_BYTES : buffer->capacity;
  while (capacity < needed) capacity *= 2;
  buffer->data = realloc(buffer->data, capacity);
  if (buffer->data == NULL) die("realloc");
  buffer->capacity = capacity;
}

static void append(struct buffer *buffer, const char *bytes, size_t count) {
  reserve(buffer, count);
  memcpy(buffer->data + buffer->length, bytes, count);
  buffer->length += count;
}

static void append_text(struct buffer *buffer, const char *text) {
  append(buffer, text, strlen(text));
}

static void drop_front(struct buffer *buffer, size_t count) {
  buffer->length -= count;
  memmove(buffer->data, buffer->data + count, buffer->length);
}

/* ---- Answers made beforehand ---- */

struct body {
  size_t bytes;
  /* With its head. */
  struct buffer answer;
};

struct answers {
  struct body bodies[BODY_SIZES];
  size_t body_count;
  struct buffer models;
  struct buffer stream_head;
  /* Each is a chunk with one event; the last ends the body. */
  struct buffer frames[FRAMES];
};

static void append_json_answer(struct buffer *buffer, const char *body, size_t bytes) {
  char head[256];
  snprintf(head, sizeof head,
           "HTTP/1.1 200 OK\r\n"
           "Content-Type: application/json\r\n"
           "x-request-id: req_bench\r\n"
           "Content-Length: %zu\r\n"
           "\r\n",
           bytes);
  append_text(buffer, head);
  append(buffer, body, bytes);
}

/* Appends words, which compress about as well as English. */
static void append_words(struct buffer *buffer, size_t bytes) {
  static const char *const words[] = {
      "the ", "quick ", "brown ", "fox ",     "jumps ", "over ", "a ",      "lazy ",
      "dog ", "and ",   "then ",  "sleeps. ", "It ",    "was ",  "a long ", "day\\n",
  };
  size_t end = buffer->length + bytes;
  uint32_t random = 12345;
  while (buffer->length < end) {
    random = random * 1103515245u + 12345u;
    const char *word = words[(random >> 16) & 15];
    /* A word that is cut could end in half an escape. */
    bool fits = buffer->length + strlen(word) <= end;
    append_text(buffer, fits ? word : "x");
  }
}

/* Makes a chat completion of exactly so many bytes. */
static void build_body(struct body *body, size_t bytes) {
  const char *before = "{\"id\":\"" ID "\",\"object\":\"chat.completion\",\"created\":1700000000,\"model\":\"" MODEL
                       "\",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"";
  size_t tokens = bytes / 5;
  char after[300];
  snprintf(after, sizeof after,
           "\",\"refusal\":null},\"logprobs\":null,\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":%zu,"
           "\"completion_tokens\":%zu,\"total_tokens\":%zu},\"system_fingerprint\":\"fp_bench\"}",
           tokens, tokens, 2 * tokens);
  struct buffer json = {0};
  append_text(&json, before);
  append_words(&json, bytes - strlen(before) - strlen(after));
  append_text(&json, after);
  body->bytes = bytes;
  append_json_answer(&body->answer, json.data, json.length);
  free(json.data);
}

/* Returns the answer of a size, NULL when the size is out of bounds or there are too many. */
static const struct buffer *body_of(struct answers *answers, size_t bytes) {
  for (size_t index = 0; index < answers->body_count; index += 1) {
    if (answers->bodies[index].bytes == bytes) return &answers->bodies[index].answer;
  }
  if (bytes < MIN_BODY_BYTES || bytes > MAX_BODY_BYTES || answers->body_count == BODY_SIZES) return NULL;
  struct body *body = &answers->bodies[answers->body_count];
  answers->body_count += 1;
  build_body(body, bytes);
  return &body->answer;
}

/* Appends a chunk that is one event. */
static void append_event(struct buffer *frame, const char *data) {
  char size[32];
  snprintf(size, sizeof size, "%zx\r\n", strlen("data: ") + strlen(data) + strlen("\n\n"));
  append_text(frame, size);
  append_text(frame, "data: ");
  append_text(frame, data);
  append_text(frame, "\n\n\r\n");
}

#define CHUNK_BEGIN                                                                                   \
  "{\"id\":\"" ID "\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,\"model\":\"" MODEL \
  "\",\"system_fingerprint\":\"fp_bench\",\"choices\":["

static void build_frames(struct answers *answers) {
  char data[1024];
  for (int index = 0; index < STREAM_EVENTS; index += 1) {
    snprintf(data, sizeof data,
             CHUNK_BEGIN "{\"index\":0,\"delta\":{%s\"content\":\" word%d\"},\"logprobs\":null,\"finish_reason\":%s}]}",
             index == 0 ? "\"role\":\"assistant\"," : "", index, index == STREAM_EVENTS - 1 ? "\"stop\"" : "null");
    append_event(&answers->frames[index], data);
  }
  append_event(&answers->frames[USAGE_FRAME],
               CHUNK_BEGIN "],\"usage\":{\"prompt_tokens\":205,\"completion_tokens\":20,\"total_tokens\":225}}");
  struct buffer *last = &answers->frames[FRAMES - 1];
  append_event(last, "[DONE]");
  append_text(last, "0\r\n\r\n");
}

static void build_answers(struct answers *answers) {
  const char *models = "{\"object\":\"list\",\"data\":[{\"id\":\"" MODEL
                       "\",\"object\":\"model\",\"created\":1700000000,\"owned_by\":\"openai\"}]}";
  append_json_answer(&answers->models, models, strlen(models));
  append_text(&answers->stream_head,
              "HTTP/1.1 200 OK\r\n"
              "Content-Type: text/event-stream; charset=utf-8\r\n"
              "x-request-id: req_bench\r\n"
              "Transfer-Encoding: chunked\r\n"
              "\r\n");
  build_frames(answers);
}

/* ---- Connections ---- */

struct connection {
  int fd;
  /* Requests that are not answered yet. */
  struct buffer received;
  /* What the socket has not taken yet of the answers. */
  struct buffer unsent;
  bool waits_for_room;
  /* The stream under way: its next frame, or FRAMES when there is none. */
  size_t next_frame;
  bool wants_usage;
  uint64_t pace_us;
  uint64_t due_us;
  /* Its place in the list of paced streams. */
  struct connection *previous;
  struct connection *next;
  bool is_listed;
};

struct provider {
  int epoll;
  int listener;
  int signals;
  struct answers answers;
  /* Streams whose next frame waits for its time. Few, so that the list is searched from end to end. */
  struct connection *paced;
  uint64_t plain_answers;
  uint64_t streams;
  uint64_t refused;
};

static uint64_t now_us(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000ull + (uint64_t)time.tv_nsec / 1000;
}

static void watch(struct provider *provider, int fd, void *who, int operation, uint32_t events) {
  struct epoll_event event = {.events = events, .data.ptr = who};
  if (epoll_ctl(provider->epoll, operation, fd, &event) != 0) die("epoll_ctl");
}

static void list_paced(struct provider *provider, struct connection *connection) {
  connection->previous = NULL;
  connection->next = provider->paced;
  if (provider->paced != NULL) provider->paced->previous = connection;
  provider->paced = connection;
  connection->is_listed = true;
}

static void unlist_paced(struct provider *provider, struct connection *connection) {
  if (!connection->is_listed) return;
  if (connection->previous == NULL) provider->paced = connection->next;
  else connection->previous->next = connection->next;
  if (connection->next != NULL) connection->next->previous = connection->previous;
  connection->is_listed = false;
}

static void close_connection(struct provider *provider, struct connection *connection) {
  unlist_paced(provider, connection);
  close(connection->fd);
  free(connection->received.data);
  free(connection->unsent.data);
  free(connection);
}

static void wait_for_room(struct provider *provider, struct connection *connection, bool waits) {
  if (connection->waits_for_room == waits) return;
  connection->waits_for_room = waits;
  watch(provider, connection->fd, connection, EPOLL_CTL_MOD, waits ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

/* Returns how many bytes the socket took, -1 when the connection is broken. */
static ssize_t send_some(int fd, const char *bytes, size_t count) {
  size_t sent = 0;
  while (sent < count) {
    ssize_t taken = send(fd, bytes + sent, count - sent, MSG_NOSIGNAL);
    if (taken < 0 && errno == EINTR) continue;
    if (taken < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    if (taken < 0) return -1;
    sent += (size_t)taken;
  }
  return (ssize_t)sent;
}

/* Sends bytes, and keeps what the socket does not take. Returns false when the connection is broken. */
static bool send_bytes(struct provider *provider, struct connection *connection, const struct buffer *bytes) {
  ssize_t sent = 0;
  if (connection->unsent.length == 0) sent = send_some(connection->fd, bytes->data, bytes->length);
  if (sent < 0) return false;
  if ((size_t)sent == bytes->length) return true;
  append(&connection->unsent, bytes->data + sent, bytes->length - (size_t)sent);
  wait_for_room(provider, connection, true);
  return true;
}

static bool send_unsent(struct provider *provider, struct connection *connection) {
  ssize_t sent = send_some(connection->fd, connection->unsent.data, connection->unsent.length);
  if (sent < 0) return false;
  drop_front(&connection->unsent, (size_t)sent);
  if (connection->unsent.length == 0) wait_for_room(provider, connection, false);
  return true;
}

/* ---- Requests ---- */

enum completeness { WHOLE, UNFINISHED, MALFORMED };

/* Finds the end of a chunked body. Gives the bytes it takes, and moves its data together when `unpack`. */
static enum completeness scan_chunks(char *body, size_t available, bool unpack, size_t *used, size_t *length) {
  size_t at = 0;
  *length = 0;
  for (;;) {
    char *line_end = memmem(body + at, available - at, "\r\n", 2);
    if (line_end == NULL) return UNFINISHED;
    char *digits_end;
    size_t size = strtoull(body + at, &digits_end, 16);
    if (digits_end == body + at || size > MAX_REQUEST_BYTES) return MALFORMED;
    at = (size_t)(line_end - body) + 2;
    if (available - at < size + 2) return UNFINISHED;
    if (size == 0) {
      /* Trailers are not expected. */
      *used = at + 2;
      return memcmp(body + at, "\r\n", 2) == 0 ? WHOLE : MALFORMED;
    }
    if (unpack) memmove(body + *length, body + at, size);
    *length += size;
    at += size + 2;
  }
}

struct request {
  bool is_get;
  char *body;
  size_t body_bytes;
  /* All bytes of it, with its head. */
  size_t bytes;
};

/* Reads a request from the beginning of a buffer. */
static enum completeness read_request(struct buffer *received, struct request *request) {
  char *data = received->data;
  if (data == NULL) return UNFINISHED;
  char *head_end = memmem(data, received->length, "\r\n\r\n", 4);
  if (head_end == NULL) return received->length > READ_BYTES ? MALFORMED : UNFINISHED;
  size_t head_bytes = (size_t)(head_end - data) + 4;
  size_t available = received->length - head_bytes;
  /* Header lines are searched as text, which a NUL must end for that time. */
  *head_end = '\0';
  const char *length = strcasestr(data, "\r\ncontent-length:");
  bool is_chunked = strcasestr(data, "\r\ntransfer-encoding: chunked") != NULL;
  size_t body_bytes = length == NULL ? 0 : strtoull(length + strlen("\r\ncontent-length:"), NULL, 10);
  *head_end = '\r';
  request->is_get = data[0] == 'G';
  request->body = data + head_bytes;
  size_t used = body_bytes;
  if (is_chunked) {
    enum completeness found = scan_chunks(request->body, available, false, &used, &body_bytes);
    if (found != WHOLE) return found;
    scan_chunks(request->body, available, true, &used, &body_bytes);
  }
  if (body_bytes > MAX_REQUEST_BYTES) return MALFORMED;
  if (used > available) return UNFINISHED;
  request->body_bytes = body_bytes;
  request->bytes = head_bytes + used;
  return WHOLE;
}

static bool contains(const struct request *request, const char *text) {
  return memmem(request->body, request->body_bytes, text, strlen(text)) != NULL;
}

/* Finds "answer: <name>=<number>" in a body. */
static bool find_wish(const struct request *request, const char *name, uint64_t *number) {
  size_t name_bytes = strlen(name);
  const char *found = memmem(request->body, request->body_bytes, "answer: ", strlen("answer: "));
  if (found == NULL) return false;
  found += strlen("answer: ");
  size_t rest = request->body_bytes - (size_t)(found - request->body);
  if (rest < name_bytes + 2 || memcmp(found, name, name_bytes) != 0) return false;
  *number = strtoull(found + name_bytes, NULL, 10);
  return true;
}

/* ---- Answering ---- */

/* Sends the next frame of a stream. */
static bool send_frame(struct provider *provider, struct connection *connection) {
  if (connection->next_frame == USAGE_FRAME && !connection->wants_usage) connection->next_frame += 1;
  const struct buffer *frame = &provider->answers.frames[connection->next_frame];
  connection->next_frame += 1;
  if (connection->next_frame == FRAMES) provider->streams += 1;
  return send_bytes(provider, connection, frame);
}

static bool begin_stream(struct provider *provider, struct connection *connection, const struct request *request,
                         uint64_t pace_us) {
  connection->wants_usage = contains(request, "\"include_usage\":true") || contains(request, "\"include_usage\": true");
  connection->pace_us = pace_us;
  connection->next_frame = 0;
  if (!send_bytes(provider, connection, &provider->answers.stream_head)) return false;
  if (!send_frame(provider, connection)) return false;
  if (pace_us > 0) {
    connection->due_us = now_us() + pace_us;
    list_paced(provider, connection);
    return true;
  }
  while (connection->next_frame < FRAMES) {
    if (!send_frame(provider, connection)) return false;
  }
  return true;
}

static bool answer(struct provider *provider, struct connection *connection, const struct request *request) {
  if (request->is_get) return send_bytes(provider, connection, &provider->answers.models);
  uint64_t number = 0;
  if (find_wish(request, "pace=", &number)) return begin_stream(provider, connection, request, number);
  size_t bytes = find_wish(request, "bytes=", &number) ? number : ORDINARY_BODY_BYTES;
  const struct buffer *body = body_of(&provider->answers, bytes);
  if (body == NULL) {
    static char text[] = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
    const struct buffer refusal = {.data = text, .length = strlen(text)};
    provider->refused += 1;
    return send_bytes(provider, connection, &refusal);
  }
  provider->plain_answers += 1;
  return send_bytes(provider, connection, body);
}

/* Answers all requests that have come whole, one after another. Returns false when the connection must be closed. */
static bool answer_all(struct provider *provider, struct connection *connection) {
  while (connection->next_frame == FRAMES) {
    struct request request = {0};
    enum completeness found = read_request(&connection->received, &request);
    if (found == UNFINISHED) return true;
    if (found == MALFORMED) {
      fprintf(stderr, "provider: a malformed request\n");
      provider->refused += 1;
      return false;
    }
    if (!answer(provider, connection, &request)) return false;
    drop_front(&connection->received, request.bytes);
  }
  return true;
}

/* Sends the frames whose time has come. */
static void send_due_frames(struct provider *provider) {
  uint64_t now = now_us();
  struct connection *next;
  for (struct connection *connection = provider->paced; connection != NULL; connection = next) {
    next = connection->next;
    if (connection->due_us > now) continue;
    connection->due_us += connection->pace_us;
    bool is_well = send_frame(provider, connection);
    if (is_well && connection->next_frame == FRAMES) {
      unlist_paced(provider, connection);
      is_well = answer_all(provider, connection);
    }
    if (!is_well) close_connection(provider, connection);
  }
}

/* ---- Events ---- */

static void accept_all(struct provider *provider) {
  for (;;) {
    int fd = accept4(provider->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0 && (errno == EINTR || errno == ECONNABORTED)) continue;
    if (fd < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (fd < 0) die("Cannot accept a connection");
    int one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    struct connection *connection = calloc(1, sizeof *connection);
    if (connection == NULL) die("calloc");
    connection->fd = fd;
    connection->next_frame = FRAMES;
    watch(provider, fd, connection, EPOLL_CTL_ADD, EPOLLIN);
  }
}

/* Reads what has come. Returns false when the connection must be closed. */
static bool receive(struct provider *provider, struct connection *connection) {
  struct buffer *received = &connection->received;
  reserve(received, READ_BYTES);
  ssize_t count = read(connection->fd, received->data + received->length, received->capacity - received->length - 1);
  if (count < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
  if (count == 0) return false;
  received->length += (size_t)count;
  /* So that a number at the end is not read beyond it. */
  received->data[received->length] = '\0';
  return answer_all(provider, connection);
}

static void serve_connection(struct provider *provider, struct connection *connection, uint32_t events) {
  bool is_well = true;
  if (events & EPOLLOUT) is_well = send_unsent(provider, connection);
  if (is_well && (events & (EPOLLIN | EPOLLHUP | EPOLLERR))) is_well = receive(provider, connection);
  if (!is_well) close_connection(provider, connection);
}

static int wait_for_events(struct provider *provider, struct epoll_event *events) {
  uint64_t due_us = UINT64_MAX;
  for (struct connection *connection = provider->paced; connection != NULL; connection = connection->next) {
    if (connection->due_us < due_us) due_us = connection->due_us;
  }
  if (due_us == UINT64_MAX) return epoll_wait(provider->epoll, events, EVENTS_AT_ONCE, -1);
  uint64_t now = now_us();
  uint64_t wait_us = due_us > now ? due_us - now : 0;
  struct timespec wait = {
      .tv_sec = (time_t)(wait_us / 1000000),
      .tv_nsec = (long)(wait_us % 1000000) * 1000,
  };
  return epoll_pwait2(provider->epoll, events, EVENTS_AT_ONCE, &wait, NULL);
}

/* Serves until it is told to end. */
static void serve(struct provider *provider) {
  struct epoll_event events[EVENTS_AT_ONCE];
  for (;;) {
    int ready = wait_for_events(provider, events);
    if (ready < 0 && errno != EINTR) die("epoll_pwait2");
    for (int index = 0; index < ready; index += 1) {
      void *who = events[index].data.ptr;
      if (who == &provider->signals) return;
      if (who == &provider->listener) accept_all(provider);
      else serve_connection(provider, who, events[index].events);
    }
    send_due_frames(provider);
  }
}

/* ---- Start ---- */

/* Listens on a free port, and returns it. */
static uint16_t start_listening(struct provider *provider) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  provider->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (provider->listener < 0) die("Cannot open a socket");
  if (bind(provider->listener, (struct sockaddr *)&address, sizeof address) != 0) die("Cannot bind");
  if (listen(provider->listener, BACKLOG) != 0) die("Cannot listen");
  getsockname(provider->listener, (struct sockaddr *)&address, &length);
  watch(provider, provider->listener, &provider->listener, EPOLL_CTL_ADD, EPOLLIN);
  return ntohs(address.sin_port);
}

/* Makes signals that ask for the end events like others. One comes by itself when the parent is gone. */
static void watch_signals(struct provider *provider) {
  sigset_t endings;
  sigemptyset(&endings);
  sigaddset(&endings, SIGTERM);
  sigaddset(&endings, SIGINT);
  sigprocmask(SIG_BLOCK, &endings, NULL);
  provider->signals = signalfd(-1, &endings, SFD_CLOEXEC);
  if (provider->signals < 0) die("signalfd");
  watch(provider, provider->signals, &provider->signals, EPOLL_CTL_ADD, EPOLLIN);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
}

/* Takes as many descriptors as it may. Each connection is one. */
static void raise_file_limit(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) die("getrlimit");
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

int main(void) {
  struct provider provider = {.epoll = epoll_create1(EPOLL_CLOEXEC)};
  if (provider.epoll < 0) die("epoll_create1");
  raise_file_limit();
  build_answers(&provider.answers);
  watch_signals(&provider);
  printf("{\"port\":%d}\n", start_listening(&provider));
  fflush(stdout);
  serve(&provider);
  printf("{\"plainAnswers\":%llu,\"streams\":%llu,\"refused\":%llu}\n", (unsigned long long)provider.plain_answers,
         (unsigned long long)provider.streams, (unsigned long long)provider.refused);
  return 0;
}
