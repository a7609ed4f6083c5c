/** Cases of public suites against Assay's server, each with its outcome; whole, and byte by byte. */
import t, { type Test } from 'tap';
import { type Hear, hearAssay } from './hearing.ts';
import { REQUEST_CASES, type RequestCase } from './request-cases.ts';

function titleOf({ source, name, refusal, differs }: RequestCase): string {
  const reason = differs === undefined ? '' : ` (unlike ${source}: ${differs})`;
  return `${source}: ${name}: ${refusal === null ? 'accepted' : 'refused'}${reason}`;
}

async function check(
  t: Test,
  hear: Hear,
  { stream, runs, refusal }: RequestCase,
  step: number,
): Promise<void> {
  const bytes = Buffer.from(stream, 'latin1');
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += step) pieces.push(bytes.subarray(at, at + step));
  const heard = await hear(pieces);
  t.same(
    heard.requests.map(({ method, target, body }) => `${method} ${target} ${body}`),
    runs,
  );
  if (refusal === null) t.equal(heard.refusal, null);
  else t.match(heard.refusal, refusal);
}

t.test(
  'the server treats each request as the public test suites require, or the case gives the reason',
  async (t) => {
    const hear = await hearAssay(t);
    for (const one of REQUEST_CASES)
      await t.test(titleOf(one), async (t) => {
        await check(t, hear, one, one.stream.length);
        if (one.stream.length < 1_000) await check(t, hear, one, 1);
      });
  },
);
