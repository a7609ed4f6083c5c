/** Counting tokens in a thread: exact, bounded, and harmless when it fails. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { systemClock } from '#platform/process/clock.ts';
import type { TokenCounterOptions } from '../../../../ingest/tokens/counter.ts';
import { createTokenCounter, type TokenCounter } from '../../../../ingest/tokens/mod.ts';
import { prose } from '../../../bench/prose.ts';
import { leastOf } from '../../../support/least-of.ts';
import { loopDelayMs } from '../../../support/loop-delay.ts';
import { mixed, slowText } from '../../../support/slow-text.ts';

/** A counter, and the failures that it reported. */
function counterFor(
  t: Test,
  more: Partial<TokenCounterOptions> = {},
): { counter: TokenCounter; failures: unknown[] } {
  const failures: unknown[] = [];
  const onFailure = (error: unknown) => failures.push(error);
  const counter = createTokenCounter({ clock: systemClock, onFailure, ...more });
  t.teardown(() => counter.close());
  return { counter, failures };
}

/** A clock that the test advances. */
function stoppedClock() {
  let nowMs = 0;
  return {
    now: () => nowMs,
    monotonic: () => nowMs,
    advance: (ms: number) => {
      nowMs += ms;
    },
  };
}

/** A thread that does something else than counting. */
function threadOf(t: Test, source: string): URL {
  const directory = mkdtempSync(join(tmpdir(), 'assay-tokens-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, 'thread.mjs');
  writeFileSync(path, source);
  return pathToFileURL(path);
}

t.test('texts given to the token counter', async (t) => {
  const { counter, failures } = counterFor(t);

  await t.test('texts are counted as the models of OpenAI count them', async (t) => {
    const known: [text: string, tokens: number][] = [
      ['', 0],
      ['hello world', 2],
      ['tiktoken is great!', 6],
      ['antidisestablishmentarianism', 6],
      ['お誕生日おめでとう', 8],
      ['2 + 2 = 4', 7],
    ];
    t.same(
      await counter.count(known.map(([text]) => text)),
      known.map(([, tokens]) => tokens),
    );
    t.same(await counter.count([]), []);
  });

  await t.test('special tokens of a model in a text count as plain text', async (t) => {
    const [special, plain] = await counter.count(['<|endoftext|>', '<|somethingelse|>']);
    t.ok(special! > 1 && plain! > 1);
    t.same(failures, []);
  });

  await t.test('any list of texts gets one token count for each text', async (t) => {
    const texts = fc.array(fc.oneof(fc.string({ unit: 'binary' }), fc.string(), fc.base64String()), {
      maxLength: 20,
    });
    await fc.assert(
      fc.asyncProperty(texts, async (given) => {
        const counts = await counter.count(given);
        return counts.length === given.length && counts.every((tokens) => Number.isInteger(tokens));
      }),
      { numRuns: 200 },
    );
    t.same(failures, []);
  });

  await t.test('texts joined by the separator have as many tokens as separate ones', async (t) => {
    const parts = ['Hello.', 'What?', ' And', '{"a":1}', 'お誕生日', '\n\n'];
    const [joined, ...apart] = await counter.count([parts.join('\0'), ...parts]);
    const separators = parts.length - 1;
    t.equal(
      joined! - separators,
      apart.reduce((sum, tokens) => sum! + tokens!, 0),
    );
  });

  await t.test('long texts are counted by a sample, within 3 % of the whole', async (t) => {
    const code = (lines: number) =>
      Array.from(
        { length: lines },
        (_, line) => `  if (value${line} > ${line * 7}) return [${line}];\n`,
      ).join('');
    const long = {
      prose: prose(1_000_000),
      code: code(20_000),
      'prose, then code, then prose': prose(300_000) + code(8_000) + prose(200_000),
    };
    for (const [what, text] of Object.entries(long)) {
      const [estimate] = await counter.count([text]);
      // Piece by piece, none of them so long that it would be sampled.
      const pieces = text.match(/[\s\S]{1,30000}/g)!;
      const counts = await counter.count(pieces);
      const whole = counts.reduce((sum, tokens) => sum! + tokens!, 0)!;
      const error = estimate! / whole - 1;
      t.comment(
        `${what}: ${text.length} characters, ${whole} tokens, estimate ${(100 * error).toFixed(2)} % off`,
      );
      t.ok(Math.abs(error) < 0.03);
    }
  });

  await t.test('texts made to be slow to count are counted in time', async (t) => {
    const of = (signs: string) => mixed([...signs], 1_000_000);
    const slow = {
      'one letter': 'a'.repeat(1_000_000),
      spaces: ' '.repeat(1_000_000),
      'any letters': of('abcdefghijklmnopqrstuvwxyz'),
      'any letters with accents': of('éÿàâîôûçñœæß'),
      'any letters of Thai': slowText(1_000_000),
      'any signs': of('!?#$%&*+-/'),
      emoji: of('😀🚀👩🦀🏽'),
      'lone surrogates': mixed(['\ud800', '\ud801', '\udc00'], 1_000_000),
    };
    for (const [what, text] of Object.entries(slow)) {
      const leastMs = await leastOf(
        5,
        async () => {
          const startedAt = performance.now();
          const [tokens] = await counter.count([text]);
          t.not(tokens, null);
          return performance.now() - startedAt;
        },
        2_000,
      );
      t.ok(leastMs < 2_000, `${what}: ${leastMs.toFixed(0)} ms`);
    }
    t.same(failures, []);
  });

  await t.test('counting long texts does not block the calling thread', async (t) => {
    const texts = Array.from({ length: 5 }, () => slowText(1_000_000));
    const longestMs = await loopDelayMs(texts.length, (round) => counter.count([texts[round]!]));
    t.comment(`longest delay while 1 MB was counted: ${longestMs.toFixed(1)} ms`);
    t.ok(longestMs < 100);
  });
});

t.test('a thread that cannot start is reported once, and not tried again for a minute', async (t) => {
  const clock = stoppedClock();
  const { counter, failures } = counterFor(t, { clock, thread: new URL('file:///nowhere/at-all.mjs') });
  t.same(await counter.count(['a', 'b']), [null, null]);
  t.equal(failures.length, 1);
  t.same(await counter.count(['a']), [null]);
  t.equal(failures.length, 1, 'it is left alone');
  clock.advance(60_001);
  t.same(await counter.count(['a']), [null]);
  t.equal(failures.length, 2, 'and then tried again');
});

t.test('texts are counted although the thread takes longer to start than they may take', async (t) => {
  const thread = threadOf(
    t,
    `await new Promise((resolve) => setTimeout(resolve, 1_500));
    export const countEach = (texts) => texts.map((text) => text.length);`,
  );
  const { counter, failures } = counterFor(t, { thread, timeoutMs: 1_000 });
  t.same(await counter.count(['four']), [4]);
  t.same(failures, []);
});

t.test('a thread that hangs is abandoned, and the next one counts', async (t) => {
  const clock = stoppedClock();
  const thread = threadOf(
    t,
    `export function countEach(texts) {
      if (texts.includes('hang')) for (;;);
      return texts.map((text) => text.length);
    }`,
  );
  // Time enough for a thread to start on a busy machine.
  const { counter, failures } = counterFor(t, { clock, thread, timeoutMs: 4_000 });
  t.same(await counter.count(['four']), [4]);
  t.same(await counter.count(['hang']), [null]);
  t.equal(failures.length, 1);
  clock.advance(60_001);
  t.same(await counter.count(['four']), [4]);
});

t.test('a thread that dies leaves the process running, and the next one counts', async (t) => {
  const thread = threadOf(
    t,
    `export function countEach(texts) {
      if (texts.includes('exit')) process.exit(1);
      return texts.map((text) => text.length);
    }`,
  );
  const clock = stoppedClock();
  const { counter, failures } = counterFor(t, { clock, thread });
  t.same(await counter.count(['exit']), [null]);
  t.equal(failures.length, 1);
  clock.advance(60_001);
  t.same(await counter.count(['four']), [4]);
});

t.test('a call of count ends at its time budget, and calls beyond the maximum count nothing', async (t) => {
  let looks = 0;
  // Each look at it takes 300 ms.
  const clock = { now: () => 0, monotonic: () => 300 * ++looks };
  const thread = threadOf(t, 'export const countEach = (texts) => texts.map((text) => text.length);');
  const { counter, failures } = counterFor(t, { clock, thread });
  const flood = Array.from({ length: 40 }, () => 'x'.repeat(32 * 1024));
  const counts = await counter.count(flood);
  t.equal(counts[0], 32 * 1024, 'what had begun is counted');
  t.equal(counts.at(-1), null, 'what would come too late is not');
  t.same(failures, [], 'which is no failure');
  const many = await Promise.all(Array.from({ length: 20 }, () => counter.count(['four'])));
  t.equal(many.filter(([tokens]) => tokens === 4).length, 16, 'nor are there more calls at a time than some');
});

t.test('a closed counter counts nothing', async (t) => {
  const { counter, failures } = counterFor(t);
  await counter.close();
  t.same(await counter.count(['a']), [null]);
  t.same(failures, []);
});
