/**
 * Answers of providers, and what the client must make of them. Which cases matter is taken from llhttp's suite
 * (github.com/nodejs/llhttp at 01e105a30fd0, MIT, test/response/*.md), whose texts are not copied.
 */

export type AnswerCase = {
  /** What is sent, in words. */
  name: string;
  stream: string;
  /** Status and body; null: the client refuses it. */
  taken: [status: number, body: string] | null;
  /** The rule that the client names when it refuses it. */
  refusal?: RegExp;
  /** Bytes that belong to no answer. */
  left?: string;
  /** Why the outcome is not that of llhttp. */
  differs?: string;
};

const OK = 'HTTP/1.1 200 OK\r\n';
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`;
const EMPTY = 'Content-Length: 0\r\n\r\n';

const STATUS_LINES: AnswerCase[] = [
  { name: 'no reason', stream: `HTTP/1.1 301\r\n${EMPTY}`, taken: [301, ''] },
  { name: 'an empty reason', stream: `HTTP/1.1 200 \r\n${EMPTY}`, taken: [200, ''] },
  { name: 'a space before the reason', stream: `HTTP/1.1 200  OK\r\n${EMPTY}`, taken: [200, ''] },
  { name: 'a reason beyond ASCII', stream: `HTTP/1.1 500 Ori\xebntatie\r\n${EMPTY}`, taken: [500, ''] },
  ...[
    ['a letter missing', 'HTP/1.1 200 OK'],
    ['letters too many', 'HTTPER/1.1 200 OK'],
    ['another protocol', 'ICE/1.0 200 OK'],
    ['RTSP', 'RTSP/1.0 200 OK'],
    ['a zero before the major version', 'HTTP/01.1 200 OK'],
    ['two digits of the major version', 'HTTP/11.1 200 OK'],
    ['two digits of the minor version', 'HTTP/1.01 200 OK'],
    ['a tab behind the version', 'HTTP/1.1\t200 OK'],
    ['two spaces behind the version', 'HTTP/1.1  200 OK'],
    ['a carriage return before it', '\rHTTP/1.1 200 OK'],
    ['a carriage return behind the reason', 'HTTP/1.1 200 OK\rContent-Length: 0'],
    ['two carriage returns behind the reason', 'HTTP/1.1 200 OK\r\rContent-Length: 0'],
    ['a version that does not exist', 'HTTP/5.6 200 OK'],
    ['a status of one digit', 'HTTP/1.1 2 OK'],
    ['a status of four digits', 'HTTP/1.1 2000 OK'],
  ].map(
    ([name, line]): AnswerCase => ({
      name: name!,
      stream: `${line}\r\n${EMPTY}`,
      taken: null,
      refusal: /status line/,
    }),
  ),
  {
    name: 'HTTP/0.9 in a status line',
    stream: `HTTP/0.9 200 OK\r\n${EMPTY}`,
    taken: null,
    refusal: /status line/,
    differs: 'there are no status lines in HTTP/0.9',
  },
  {
    name: 'an empty line before the answer',
    stream: `\r\n${OK}${EMPTY}`,
    taken: null,
    refusal: /status line/,
    differs: 'RFC 9112, section 2.2, allows it before a request alone',
  },
];

const HEADS: AnswerCase[] = [
  { name: 'an underscore in a name', stream: `${OK}a_b: c\r\n${EMPTY}`, taken: [200, ''] },
  { name: 'a dollar sign in a name', stream: `${OK}X-$a: c\r\n${EMPTY}`, taken: [200, ''] },
  {
    name: 'an empty value before another header',
    stream: `${OK}Pragma: \r\nx: y\r\n${EMPTY}`,
    taken: [200, ''],
  },
  { name: 'a space in a name', stream: `${OK}en US: y\r\n${EMPTY}`, taken: null, refusal: /no valid name/ },
  {
    name: 'a blank before the first name',
    stream: `${OK} x: y\r\n${EMPTY}`,
    taken: null,
    refusal: /no valid name/,
  },
  {
    name: 'headers apart by a carriage return',
    stream: `${OK}x: 1\ry: 2\r\n${EMPTY}`,
    taken: null,
    refusal: /control/,
  },
  {
    name: 'headers apart by a line feed',
    stream: `${OK}x: 1\ny: 2\r\n${EMPTY}`,
    taken: null,
    // The first when the head is there at once, the second as soon as the line feed is.
    refusal: /control|CR LF/,
  },
];

const LENGTHS: AnswerCase[] = [
  { name: 'a length', stream: `${OK}Content-Length: 5\r\n\r\nhello`, taken: [200, 'hello'] },
  { name: 'tabs around a length', stream: `${OK}Content-Length:\t5\t\r\n\r\nhello`, taken: [200, 'hello'] },
  { name: 'no length, until the end', stream: `${OK}\r\nhello`, taken: [200, 'hello'] },
  { name: 'no length, and an answer in the body', stream: `${OK}\r\n${OK}\r\n`, taken: [200, `${OK}\r\n`] },
  {
    name: 'keep-alive and no length',
    stream: 'HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\nab',
    taken: [200, 'ab'],
  },
  {
    name: 'a name that begins like the length',
    stream: `${OK}Content-Length-X: 0\r\n\r\nab`,
    taken: [200, 'ab'],
  },
  {
    name: 'bytes behind a length',
    stream: `${OK}Content-Length: 3\r\n\r\nabcdef`,
    taken: [200, 'abc'],
    left: 'def',
  },
  {
    name: 'two answers',
    stream: `${OK}Content-Length: 1\r\n\r\na${OK}${EMPTY}`,
    taken: [200, 'a'],
    left: OK + EMPTY,
  },
  ...[204, 304].flatMap((status): AnswerCase[] => [
    {
      name: `${status} without a length`,
      stream: `HTTP/1.1 ${status} X\r\n\r\n${OK}`,
      taken: [status, ''],
      left: OK,
    },
    {
      name: `${status} with a length`,
      stream: `HTTP/1.1 ${status} X\r\nContent-Length: 10\r\n\r\n${OK}`,
      taken: [status, ''],
      left: OK,
    },
    {
      name: `${status} with chunks`,
      stream: `HTTP/1.1 ${status} X\r\nTransfer-Encoding: chunked\r\n\r\n${OK}`,
      taken: [status, ''],
      left: OK,
    },
  ]),
  { name: '100 before the answer', stream: `HTTP/1.1 100 Continue\r\n\r\n${OK}${EMPTY}`, taken: [200, ''] },
  {
    name: '103 before the answer',
    stream: `HTTP/1.1 103 Hints\r\nlink: a\r\n\r\n${OK}${EMPTY}`,
    taken: [200, ''],
  },
  {
    name: '101',
    stream: 'HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\nproto',
    taken: null,
    refusal: /another protocol/,
  },
  {
    name: 'an upgrade in a 200',
    stream: `${OK}Upgrade: h2c\r\nContent-Length: 2\r\n\r\nab`,
    taken: [200, 'ab'],
  },
];

const CHUNKS: AnswerCase[] = [
  { name: 'chunks', stream: `${CHUNKED}5\r\nhello\r\n0\r\n\r\n`, taken: [200, 'hello'] },
  { name: 'extensions', stream: `${CHUNKED}5;a;b=c\r\nhello\r\n0\r\n\r\n`, taken: [200, 'hello'] },
  {
    name: 'a quoted extension',
    stream: `${CHUNKED}5;a="b; c";d\r\nhello\r\n0\r\n\r\n`,
    taken: [200, 'hello'],
  },
  ...[
    ['spaces behind a size', '5  \r\nhello\r\n0\r\n\r\n'],
    ['words behind a size', '5 words\r\nhello\r\n0\r\n\r\n'],
    ['a semicolon and no extension', '5;\r\nhello\r\n0\r\n\r\n'],
    ['a quotation that does not end', '5;a="b\r\nhello\r\n0\r\n\r\n'],
  ].map(
    ([name, body]): AnswerCase => ({
      name: name!,
      stream: CHUNKED + body,
      taken: null,
      refusal: /followed by an invalid extension/,
    }),
  ),
  ...['chunked, deflate', 'chunked\r\nTransfer-Encoding: identity', 'chunkedchunked', 'chunked\r\n  abc'].map(
    (coding): AnswerCase => ({
      name: `the coding ${JSON.stringify(coding)}`,
      stream: `${OK}Transfer-Encoding: ${coding}\r\n\r\n2\r\nab\r\n0\r\n\r\n`,
      taken: null,
      refusal: /not chunked alone|no valid name/,
      differs: 'llhttp reads on until the connection ends; what an unknown coding means is not guessed here',
    }),
  ),
];

export const ANSWER_CASES: readonly AnswerCase[] = [...STATUS_LINES, ...HEADS, ...LENGTHS, ...CHUNKS];
