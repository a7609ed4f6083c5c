import t from 'tap';
import { ERROR_CODES, type ErrorCode } from '#core/contracts/errors.ts';
import type { ResponseHeaders } from '#platform/http-client/mod.ts';
import {
  type AttemptOutcome,
  isWorthFallingBack,
  isWorthRetrying,
  parseRetries,
  waitBeforeRetry,
} from '../../../../gateway/routing/retry.ts';

const answered = (status: number, headers: ResponseHeaders = {}): AttemptOutcome => ({
  status,
  headers,
  errorCode: null,
});
const failed = (errorCode: ErrorCode): AttemptOutcome => ({ status: 0, headers: {}, errorCode });

const STATUSES: [status: number, again: boolean, elsewhere: boolean, what: string][] = [
  [400, false, false, 'the caller’s mistake'],
  [401, false, true, 'the key of this provider'],
  [402, false, true, 'the bill of this provider'],
  [403, false, true, 'what this account may do'],
  [404, false, true, 'a model that this provider does not have'],
  [405, false, false, 'the caller’s mistake'],
  [408, true, true, 'a timeout'],
  [409, true, true, 'a lock'],
  [413, false, false, 'too large for anybody'],
  [415, false, false, 'the caller’s mistake'],
  [422, false, false, 'the caller’s mistake'],
  [429, true, true, 'a rate limit'],
  [500, true, true, 'a failure'],
  [502, true, true, 'a failure'],
  [503, true, true, 'a failure'],
  [504, true, true, 'a failure'],
  [524, true, true, 'Cloudflare waited too long'],
  [529, true, true, 'Anthropic is overloaded'],
];

for (const [status, again, elsewhere, what] of STATUSES) {
  t.test(
    `a ${status} (${what}) is ${again ? '' : 'not '}retried and ${elsewhere ? '' : 'not '}tried at the next model`,
    async (t) => {
      t.equal(isWorthRetrying(answered(status)), again);
      t.equal(isWorthFallingBack(answered(status)), elsewhere);
    },
  );
}

t.test(
  "of the gateway's error codes only those about a provider are retried or tried at the next model",
  async (t) => {
    const again = (Object.keys(ERROR_CODES) as ErrorCode[]).filter((code) => isWorthRetrying(failed(code)));
    t.same(again, ['provider_unreachable', 'provider_timeout']);
    const elsewhere = (Object.keys(ERROR_CODES) as ErrorCode[]).filter((code) =>
      isWorthFallingBack(failed(code)),
    );
    t.same(elsewhere, ['provider_unreachable', 'provider_bad_answer', 'provider_busy', 'provider_timeout']);
  },
);

t.test('x-should-retry decides about retries and not about the next model', async (t) => {
  t.equal(isWorthRetrying(answered(503, { 'x-should-retry': 'false' })), false);
  t.equal(isWorthFallingBack(answered(503, { 'x-should-retry': 'false' })), true);
  t.equal(isWorthRetrying(answered(400, { 'x-should-retry': 'true' })), true);
  t.equal(isWorthFallingBack(answered(400, { 'x-should-retry': 'true' })), false);
  t.equal(isWorthRetrying(answered(503, { 'x-should-retry': 'perhaps' })), true);
});

const NOW = Date.parse('2026-01-31T12:00:00Z');
const wait = (headers: ResponseHeaders, retriesBefore = 0, random = 0) =>
  waitBeforeRetry(answered(429, headers), { retriesBefore, nowMs: NOW, random: () => random });

const WAITS: [what: string, headers: ResponseHeaders, ms: number | null][] = [
  ['nothing said', {}, 0],
  ['seconds', { 'retry-after': '2' }, 2_000],
  ['parts of seconds', { 'retry-after': '0.25' }, 250],
  ['now', { 'retry-after': '0' }, 0],
  ['milliseconds before seconds', { 'retry-after': '5', 'retry-after-ms': '120' }, 120],
  ['milliseconds as Azure has them', { 'retry-after': '5', 'x-ms-retry-after-ms': '130' }, 130],
  ['milliseconds that cannot be read', { 'retry-after': '5', 'retry-after-ms': 'soon' }, 5_000],
  ['a date', { 'retry-after': 'Sat, 31 Jan 2026 12:00:03 GMT' }, 3_000],
  ['a date that is over', { 'retry-after': 'Sat, 31 Jan 2026 11:59:00 GMT' }, 0],
  ['as long as a call is held', { 'retry-after': '10' }, 10_000],
  ['longer than that', { 'retry-after': '10.001' }, null],
  ['a date further away', { 'retry-after': 'Sat, 31 Jan 2026 12:00:11 GMT' }, null],
  ['no number', { 'retry-after': 'soon' }, 0],
  ['a negative number', { 'retry-after': '-5' }, 0],
  ['another notation', { 'retry-after-ms': '1e9' }, 0],
  ['nothing at all', { 'retry-after': '' }, 0],
  ['no end', { 'retry-after': '9'.repeat(400) }, null],
];

for (const [what, headers, ms] of WAITS) {
  t.test(`Retry-After with ${what} is ${ms === null ? 'not waited for' : `${ms} ms`}`, async (t) => {
    t.equal(wait(headers), ms);
  });
}

t.test('the retry delay is a random part of half a second, doubled each time, up to 8 seconds', async (t) => {
  t.same(
    [0, 1, 2, 3, 4, 5].map((before) => wait({}, before, 0.999_999)!).map(Math.round),
    [500, 1_000, 2_000, 4_000, 8_000, 8_000],
  );
  t.same(
    [0, 1, 2].map((before) => wait({}, before, 0.5)),
    [250, 500, 1_000],
  );
  t.equal(wait({ 'retry-after': '2' }, 1, 0.5), 2_500, 'on top of what the provider asks for');
});

t.test(
  'the retry headers of a call set the number of retries, and an invalid number is refused',
  async (t) => {
    for (const [isEnabled, num, retries] of [
      [false, null, 0],
      [false, '4', 0],
      [false, 'x', 0],
      [true, null, 3],
      [true, '1', 1],
      [true, ' 5 ', 5],
    ] as const) {
      t.equal(parseRetries({ isEnabled, num }), retries, `${isEnabled} ${num}`);
    }
    for (const num of ['0', '6', '', ' ', '-1', '1.5', '03', '1e0', 'three', '3, 3', '９'.repeat(100)]) {
      t.throws(
        () => parseRetries({ isEnabled: true, num }),
        {
          code: 'invalid_header',
          message: `Cannot read the header Service-Retry-Num: it must be a whole number from 1 to 5, but is "${num.slice(0, 80)}"`,
        },
        num,
      );
    }
  },
);
