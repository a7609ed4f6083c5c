import t from 'tap';
import { FailureLog } from '#platform/observability/failure-log.ts';
import type { Logger } from '#platform/observability/log.ts';

t.test(
  'a failure that repeats is logged at once, and then every ten seconds with what was left out',
  async (t) => {
    const lines: object[] = [];
    const write = (fields: object, message: string) => lines.push({ ...fields, message });
    let now = 0;
    const failures = new FailureLog({ warn: write, error: write } as unknown as Logger, () => now);
    const fail = (error: string, id: string) => {
      failures.note('warn', { error, ...{ id } }, 'cannot store');
    };
    for (let index = 0; index < 40; index += 1) {
      fail('refused', `${index}`);
      now += 500;
    }
    t.same(lines, [
      { error: 'refused', id: '0', message: 'cannot store' },
      { error: 'refused', id: '20', leftOut: 19, message: 'cannot store' },
    ]);
    fail('too many', 'a');
    failures.note('error', { error: 'too many' }, 'cannot claim');
    t.same(lines.slice(2), [
      { error: 'too many', id: 'a', message: 'cannot store' },
      { error: 'too many', message: 'cannot claim' },
    ]);
    for (let index = 0; index < 200; index += 1) fail(`error ${index}`, 'a');
    t.equal(lines.length, 204, 'other errors are not kept back');
  },
);
