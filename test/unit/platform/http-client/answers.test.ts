/** Cases of llhttp's suite against the reader of providers' answers, each with its outcome; whole, and byte by byte. */
import t, { type Test } from 'tap';
import { ResponseReader } from '#platform/http-client/response-reader.ts';
import { ANSWER_CASES, type AnswerCase } from '../../../integration/platform/http-client/answer-cases.ts';

function check(t: Test, { stream, taken, refusal, left }: AnswerCase, step: number): void {
  let status = 0;
  let body = '';
  let rest = '';
  const reader = new ResponseReader({
    onHead: (head) => {
      status = head.status;
    },
    onBytes: (bytes) => {
      body += bytes.toString('latin1');
    },
  });
  const read = (): void => {
    for (let at = 0; at < stream.length; at += step) {
      const piece = Buffer.from(stream.slice(at, at + step), 'latin1');
      const end = reader.isWhole ? 0 : reader.push(piece);
      if (reader.isWhole) rest += piece.toString('latin1', end);
    }
    reader.close();
  };
  if (taken === null) {
    t.throws(read, { name: 'NotHttp', message: refusal });
    return;
  }
  read();
  t.same([status, body, rest, reader.isWhole], [...taken, left ?? '', true]);
}

for (const one of ANSWER_CASES) {
  const outcome = one.taken === null ? 'refused' : 'taken';
  const reason = one.differs === undefined ? '' : ` (unlike llhttp: ${one.differs})`;
  t.test(`a response with ${one.name}: ${outcome}${reason}`, async (t) => {
    check(t, one, one.stream.length);
    check(t, one, 1);
  });
}
