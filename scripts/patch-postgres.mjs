// Mends four faults of postgres.js 3.4.9 in the installed copy, until a release does (its pull request 1168, issues 1154
// and 1208). When a connection dies inside a transaction,
//   1. the transaction goes on giving its statements (its rollback, at least) to that connection, which is dead, or by
//      then somebody else's: the write throws on a null socket, from a timer, where no caller can catch it, or it
//      breaks the other's conversation, whose statements then hang;
//   2. a write that waited is cleared but not forgotten, so the connection never writes again;
//   3. statements that came between the socket's error and its close are kept, and the next conversation on this
//      connection waits for their answers.
// And however a connection dies,
//   4. it keeps what it had received of an unfinished answer: an error ("terminating connection", as a rule) rejects the
//      first statement of the next conversation, hours later perhaps; rows and results are added to that statement's own.
// Anything but the exact text expected is an error: a new version of the driver must be looked at, not patched blindly.
import { readFileSync, writeFileSync } from 'node:fs';

const PATCHES = [
  {
    file: 'src/connection.js',
    before: '  async function closed(hadError) {\n    incoming = Buffer.alloc(0)\n',
    after: `  async function closed(hadError) {
    errorResponse = results = serverSignature = nonce = null
    result = new Result()
    rows = 0
    final && final(Errors.connection('CONNECTION_CLOSED', options, socket))
    final = null
    initial && (query = null)
    incoming = Buffer.alloc(0)
`,
    times: 1,
  },
  {
    file: 'src/connection.js',
    before: '    clearImmediate(nextWriteTimer)\n',
    after: '    clearImmediate(nextWriteTimer)\n    chunk = nextWriteTimer = null\n',
    times: 2,
  },
  {
    file: 'src/connection.js',
    before:
      "    !hadError && (query || sent.length) && error(Errors.connection('CONNECTION_CLOSED', options, socket))\n",
    after:
      "    ;(query || sent.length) && error(Errors.connection('CONNECTION_CLOSED', options, socket))\n    query = null\n",
    times: 1,
  },
  {
    file: 'src/index.js',
    before: '      , prepare = null\n\n    try {',
    after: '      , prepare = null\n      , closed = null\n\n    try {',
    times: 1,
  },
  {
    file: 'src/index.js',
    before: 'new Promise((_, reject) => connection.onclose = reject)',
    after: `new Promise((_, reject) => connection.onclose = e => {
          closed = e
          while (queries.length)
            queries.shift().reject(e)
          reject(e)
        })`,
    times: 1,
  },
  {
    file: 'src/index.js',
    before: 'uncaughtError || (uncaughtError = e))\n        c.queue',
    after:
      'uncaughtError || (uncaughtError = e))\n        if (closed)\n          return q.reject(closed)\n\n        c.queue',
    times: 1,
  },
];

function count(text, part) {
  return text.split(part).length - 1;
}

/**
 * Patches the driver below `root`; harmless when it is patched already.
 * @throws Error when the installed text is not the one that the patch was made for
 */
export function patchPostgres(root) {
  for (const { file, before, after, times } of PATCHES) {
    const place = new URL(`node_modules/postgres/${file}`, root);
    const text = readFileSync(place, 'utf8');
    if (count(text, after) === times) continue;
    if (count(text, before) !== times) {
      throw new Error('The installed postgres.js is not the version that scripts/patch-postgres.mjs mends');
    }
    writeFileSync(place, text.replaceAll(before, after));
  }
}
