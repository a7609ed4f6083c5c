import t from 'tap';
import { type Capacity, shareCapacity } from '../../../../sinks/webhooks/shares.ts';

const CAPACITY: Capacity = { total: 8, ofOrganization: 6, ofWebhook: 3 };
/** Webhooks whose names begin with their organization's. */
const owned = (names: string) =>
  names
    .split(' ')
    .filter((name) => name !== '')
    .map((name) => ({ organizationId: name[0]!, webhookId: name }));
const share = (due: string, held = '') =>
  Object.fromEntries(shareCapacity(owned(due), owned(held), CAPACITY));

t.test('one webhook gets no more than its own part, and one organization no more than its own', (t) => {
  t.same(share('a1'), { a1: 3 });
  t.same(share('a1 a2 a3'), { a1: 2, a2: 2, a3: 2 });
  t.same(share('a1', 'a1 a1'), { a1: 1 });
  t.end();
});

t.test('organizations get even parts, however many webhooks each has', (t) => {
  t.same(share('a1 a2 a3 a4 b1'), { a1: 1, a2: 1, a3: 1, a4: 1, b1: 3 });
  t.same(share('a1 b1', 'a1 a1 a1'), { b1: 3 });
  t.end();
});

t.test('attempts under way of others leave room: none has more than an even part', (t) => {
  t.same(share('a1 a2 a3', 'a1 a1 a2 a2'), { a3: 2 });
  t.same(share('a1', 'a1 a2 a3'), { a1: 1 }, 'six among three webhooks are two for each');
  t.end();
});

t.test('a webhook with nothing under way gets one attempt of a full organization', (t) => {
  t.same(share('a1 a2 a3', 'a1 a1 a1 a2 a2 a2'), { a3: 1 });
  t.end();
});

t.test('an organization with nothing under way gets one attempt of a full process', (t) => {
  const held = 'a1 a1 a2 a2 b1 b1 b2 b2';
  t.same(share('a1 b1 c1 d1 d2', held), { c1: 1, d1: 1 });
  t.same(share('a1 b1', held), {});
  t.end();
});

t.test('nothing due is nothing shared', (t) => {
  t.same(share(''), {});
  t.end();
});
