import { createHash } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';
import { isSampled, samplingPoint } from '#core/scoring/mod.ts';
import { anyCharacter } from '../../../support/any-character.ts';

const IDS = Array.from({ length: 20_000 }, (_, index) => `01J8QZ5K3M${String(index).padStart(16, '0')}`);
const EVALUATOR = '7d3c0b9e-3f50-4b0e-9a51-0c8f6a2f5d10';
/** Evaluator ids that differ in one digit. */
const NEIGHBOUR = '7d3c0b9e-3f50-4b0e-9a51-0c8f6a2f5d11';

const id = fc.string({ unit: anyCharacter, maxLength: 40 });
/** Uniform in [0, 100): most doubles are near zero. */
const rate = fc.integer({ min: 0, max: 10_000 }).map((hundredths) => hundredths / 100);

/** The deviation that chance explains for a share of `count` draws: five standard deviations, in draws. */
const tolerance = (count: number, share: number) => 5 * Math.sqrt(count * share * (1 - share));

function isAbout(actual: number, count: number, share: number, what: string) {
  const off = Math.abs(actual - count * share);
  t.ok(off <= tolerance(count, share), `${what}: ${actual} of ${count}, expected ${count * share}`);
}

t.test(
  'a sampling point is the first 48 bits of a hash of both ids, so that releases pick the same requests',
  async () => {
    fc.assert(
      fc.property(id, id, (evaluatorId, requestId) => {
        const digest = createHash('sha256').update(`${evaluatorId}\0${requestId}`).digest('hex');
        const exact = (BigInt(`0x${digest.slice(0, 12)}`) * 100n * 10n ** 9n) / 2n ** 48n;
        return Math.abs(samplingPoint(evaluatorId, requestId) - Number(exact) / 1e9) < 1e-8;
      }),
    );
  },
);

t.test('a sampling point is at least 0 and less than 100', async () => {
  fc.assert(
    fc.property(id, id, (evaluatorId, requestId) => {
      const point = samplingPoint(evaluatorId, requestId);
      return point >= 0 && point < 100;
    }),
  );
});

t.test('sampling decides the same two ids always alike', async () => {
  fc.assert(
    fc.property(id, id, rate, (evaluatorId, requestId, percent) => {
      const first = isSampled(evaluatorId, requestId, percent);
      samplingPoint(requestId, evaluatorId);
      return isSampled(evaluatorId, requestId, percent) === first;
    }),
  );
});

t.test('a sample rate of 0 percent takes no request, one of 100 percent takes every request', async () => {
  fc.assert(
    fc.property(
      id,
      id,
      (evaluatorId, requestId) =>
        !isSampled(evaluatorId, requestId, 0) && isSampled(evaluatorId, requestId, 100),
    ),
  );
});

t.test('a request is sampled by every rate above its point, and by none up to it', async () => {
  fc.assert(
    fc.property(id, id, (evaluatorId, requestId) => {
      const point = samplingPoint(evaluatorId, requestId);
      return (
        !isSampled(evaluatorId, requestId, point) &&
        isSampled(evaluatorId, requestId, point + 1e-12 * (1 + point))
      );
    }),
  );
});

t.test('a request sampled at one rate is sampled at every higher rate', async () => {
  fc.assert(
    fc.property(id, id, rate, rate, (evaluatorId, requestId, one, other) => {
      const [lower, higher] = one < other ? [one, other] : [other, one];
      return !isSampled(evaluatorId, requestId, lower) || isSampled(evaluatorId, requestId, higher);
    }),
  );
});

for (const percent of [0.5, 1, 10, 33.3, 50, 90, 99.5]) {
  t.test(`a sample rate of ${percent} percent takes about that share, also of consecutive ids`, async () => {
    for (const evaluatorId of [EVALUATOR, NEIGHBOUR]) {
      const taken = IDS.filter((requestId) => isSampled(evaluatorId, requestId, percent)).length;
      isAbout(taken, IDS.length, percent / 100, evaluatorId);
    }
  });
}

t.test('sampling points are evenly spread: each tenth of the range has a tenth of the requests', async () => {
  const tenths = new Array<number>(10).fill(0);
  for (const requestId of IDS) tenths[Math.floor(samplingPoint(EVALUATOR, requestId) / 10)]! += 1;
  for (const [index, count] of tenths.entries()) isAbout(count, IDS.length, 0.1, `from ${index * 10}`);
});

t.test('the samples of two evaluators are independent of each other', async () => {
  // If the two samples were equal, opposite or shifted, one of the four shares would be off.
  const both = new Map<string, number>();
  for (const requestId of IDS) {
    const pair = [EVALUATOR, NEIGHBOUR].map((one) => isSampled(one, requestId, 50)).join();
    both.set(pair, (both.get(pair) ?? 0) + 1);
  }
  for (const pair of ['true,true', 'true,false', 'false,true', 'false,false']) {
    isAbout(both.get(pair) ?? 0, IDS.length, 0.25, pair);
  }
});

t.test('the choice of probed requests is independent of the sample', async () => {
  // Ingest appends "/probe" to the evaluator's id.
  const taken = IDS.filter((requestId) => isSampled(EVALUATOR, requestId, 10));
  const probed = taken.filter((requestId) => isSampled(`${EVALUATOR}/probe`, requestId, 10));
  isAbout(probed.length, taken.length, 0.1, 'of the 10 percent that are taken');
});

t.test('a character moved from one id to the other changes the sampling point', async () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme-ascii', minLength: 2, maxLength: 40 }),
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 1, max: 40 }),
      (text, one, other) => {
        const [first, second] = [one % text.length, other % text.length];
        const at = (split: number) => samplingPoint(text.slice(0, split), text.slice(split));
        return first === second || at(first) !== at(second);
      },
    ),
  );
});
