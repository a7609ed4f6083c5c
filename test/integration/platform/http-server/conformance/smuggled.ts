/** Requests with another one in their bodies, which a server runs when it sees the end of the body elsewhere. */

type Smuggled = { name: string; stream: string };

const EVIL = 'GET /evil HTTP/1.1\r\nHost: cases.test\r\n\r\n';

/** Ways to write a coding that one reader takes for `chunked` and another does not. */
const CODINGS = [
  'Transfer-Encoding: chunked',
  'Transfer-Encoding : chunked',
  'Transfer-Encoding:\tchunked',
  'Transfer-Encoding: \x0bchunked',
  'Transfer-Encoding: chunked\xa0',
  'Transfer-Encoding: xchunked',
  'Transfer-Encoding: chunked, identity',
  'Transfer-Encoding: identity, chunked',
  'Transfer-Encoding: ,chunked',
  'Transfer-Encoding: "chunked"',
  'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity',
  'Transfer-Encoding:\r\n chunked',
  'Transfer_Encoding: chunked',
  'x: y\nTransfer-Encoding: chunked',
  'x: y\rTransfer-Encoding: chunked',
  ' Transfer-Encoding: chunked',
];

/** Ways to write a length that one reader takes for this many bytes and another does not. */
const lengths = (bytes: number): string[] => [
  `Content-Length: ${bytes}`,
  `Content-Length: +${bytes}`,
  `Content-Length: 0x${bytes.toString(16)}`,
  `Content-Length: 0\r\nContent-Length: ${bytes}`,
  `Content-Length: ${bytes}\r\nContent-Length: 0`,
  `Content-Length: \r\nContent-Length: ${bytes}`,
  `Content-Length: ${bytes},`,
  `Content-Length: ${bytes}, ${bytes}`,
  `Content-Length: ${bytes}\xa0`,
  `Content-Length : ${bytes}`,
  `Content-Length:\r\n ${bytes}`,
];

/** Ways to write the line before a chunk of so many bytes. */
const sizes = (bytes: number): string[] => {
  const hex = bytes.toString(16);
  return [
    hex,
    `0x${hex}`,
    `+${hex}`,
    `0_${hex}`,
    `${hex} `,
    `${hex};a\n`,
    `${hex};\r`,
    `${hex};a="`,
    `1${'0'.repeat(15)}${hex}`,
  ];
};

function post(headers: string, body: string): string {
  return `POST /a HTTP/1.1\r\nHost: cases.test\r\n${headers}\r\n\r\n${body}`;
}

const inChunk = `${EVIL.length.toString(16)}\r\n${EVIL}\r\n0\r\n\r\n`;

export const SMUGGLED: readonly Smuggled[] = [
  ...lengths(EVIL.length).map((header) => ({ name: JSON.stringify(header), stream: post(header, EVIL) })),
  ...CODINGS.flatMap((header) => [
    { name: `${JSON.stringify(header)}, a request in a chunk`, stream: post(header, inChunk) },
    {
      name: `${JSON.stringify(header)} beside a length, a request behind the chunks`,
      stream: post(`Content-Length: ${EVIL.length + 5}\r\n${header}`, `0\r\n\r\n${EVIL}`),
    },
    {
      name: `${JSON.stringify(header)} beside a length that ends before a request in a chunk`,
      stream: post(`${header}\r\nContent-Length: 4`, inChunk),
    },
  ]),
  ...sizes(EVIL.length).map((size) => ({
    name: `the size ${JSON.stringify(size)}`,
    stream: post('Transfer-Encoding: chunked', `${size}\r\n${EVIL}\r\n0\r\n\r\n`),
  })),
];
