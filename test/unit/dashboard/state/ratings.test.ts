import t from 'tap';
import { forgetAll } from '../../../../dashboard/client/recent.ts';
import { noteAsked, rate, ratingOf } from '../../../../dashboard/state/ratings.ts';

const realFetch = globalThis.fetch;
t.before(() => {
  globalThis.fetch = async () => Response.json({ data: null });
});
t.after(() => {
  globalThis.fetch = realFetch;
});
t.beforeEach(forgetAll);

const row = (rating: boolean | null, askedMs = performance.now()) => {
  const loaded = { request_id: 'r', feedback_rating: rating };
  noteAsked([loaded], askedMs);
  return loaded;
};
/** The clock of the page has moved on. */
async function tick(): Promise<void> {
  const before = performance.now();
  while (performance.now() === before) await new Promise((resolve) => setImmediate(resolve));
}

t.test('a rating is shown in place of what was loaded before it', async (t) => {
  const before = row(null);
  await tick();
  await rate('r', true);
  t.equal(ratingOf(before), true);
  t.equal(ratingOf({ request_id: 'other', feedback_rating: false }), false);
});

t.test('what is asked for after a rating knows better', async (t) => {
  const begunMs = performance.now();
  await tick();
  await rate('r', true);
  await tick();
  t.equal(ratingOf(row(false, begunMs)), true, 'it was asked for before, and came after');
  t.equal(ratingOf(row(false)), false);
  t.equal(ratingOf(row(null)), null);
});

t.test('ratings are forgotten with the log-in', async (t) => {
  const before = row(null);
  await tick();
  await rate('r', true);
  forgetAll();
  t.equal(ratingOf(before), null);
});
