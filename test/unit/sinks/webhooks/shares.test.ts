import t from 'tap';
import { type Capacity, shareCapacity } from '../../../../sinks/webhooks/shares.ts';

const CAPACITY: Capacity = { total: 8, spare: 2, ofOrganization: 6, ofWebhook: 3 };
const NOTHING_HELD = { ofWebhook: new Map(), ofOrganization: new Map() };
const due = (...names: string[]) => names.map((name) => ({ organizationId: name[0]!, webhookId: name }));
const share = (names: string[], held = NOTHING_HELD, capacity = CAPACITY) =>
  Object.fromEntries(shareCapacity(due(...names), held, capacity));

t.test('one webhook gets no more than its own part, and one organization no more than its own', (t) => {
  t.same(share(['a1']), { a1: 3 });
  t.same(share(['a1', 'a2', 'a3']), { a1: 2, a2: 2, a3: 2 });
  t.end();
});

t.test('organizations take turns, however many webhooks each has', (t) => {
  t.same(share(['a1', 'a2', 'a3', 'b1', 'c1']), { a1: 1, a2: 1, a3: 1, b1: 3, c1: 2 });
  t.end();
});

t.test('what is under way counts', (t) => {
  const held = {
    ofWebhook: new Map([
      ['a1', 3],
      ['a2', 2],
    ]),
    ofOrganization: new Map([['a', 5]]),
  };
  t.same(share(['a1', 'a2', 'b1'], held), { a2: 1, b1: 2 }, 'b, which has none, comes first');
  t.end();
});

t.test('a full process still takes one delivery of each organization that has none under way', (t) => {
  const ofOrganization = new Map([
    ['a', 4],
    ['b', 4],
  ]);
  const held = {
    ofWebhook: new Map([
      ['a1', 3],
      ['a2', 1],
      ['b1', 3],
      ['b2', 1],
    ]),
    ofOrganization,
  };
  t.same(share(['a2', 'c1', 'd1', 'e1'], held), { c1: 1, d1: 1 });
  t.same(share(['a2'], held), {});
  t.end();
});

t.test('nothing due is nothing shared', (t) => {
  t.same(share([]), {});
  t.end();
});
