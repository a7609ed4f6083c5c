import t from 'tap';
import {
  acknowledge,
  addCall,
  availableNano,
  endCall,
  isDirty,
  openHold,
  settlementFor,
  tryDraw,
} from '#platform/limiter/hold.ts';

const NOW = 1_000;
const holdOf = (reservedNano: number) =>
  openHold({ organizationId: 'o', counter: 'c', reservationId: 'r', expiresAt: NOW + 100, reservedNano });

t.test('calls draw at most what a hold has reserved', async (t) => {
  const hold = holdOf(250);
  addCall(hold, 100);
  t.ok(tryDraw(hold, 100, NOW, 0));
  t.notOk(tryDraw(hold, 51, NOW, 0), 'the rest is too small');
  t.equal(availableNano(hold, NOW), 50);
  t.ok(tryDraw(hold, 50, NOW, 0));
  t.notOk(tryDraw(hold, 0, NOW, 0), 'nothing is left, not even for a call that costs nothing');
});

t.test('no call draws from a hold once its sub-bucket may have ended', async (t) => {
  const hold = holdOf(1_000);
  t.ok(tryDraw(hold, 10, NOW + 99, 0));
  t.notOk(tryDraw(hold, 10, NOW + 100, 0));
  t.equal(availableNano(hold, NOW + 100), 0);
});

t.test(
  'money that a call did not use can be drawn again, and a call that cost too much closes the hold',
  async (t) => {
    const hold = holdOf(100);
    t.ok(tryDraw(hold, 100, NOW, 0));
    endCall(hold, 100, 20);
    t.ok(tryDraw(hold, 80, NOW, 0));
    t.notOk(isDirty(hold), 'an open hold needs no settlement');
    endCall(hold, 80, 81);
    t.ok(hold.isClosed);
    t.ok(isDirty(hold), 'an overdrawn hold does');
    t.match(settlementFor(hold), { settlement: { costNano: 101, isOpen: false }, endedCalls: 2 });
  },
);

t.test('settlements of a closed hold give its total need, until all of its calls have ended', async (t) => {
  const hold = holdOf(100);
  addCall(hold, 30);
  addCall(hold, 40);
  hold.isClosed = true;
  const first = settlementFor(hold);
  t.match(first, { settlement: { costNano: 70, revision: 1, isOpen: true }, endedCalls: 0 });
  endCall(hold, 30, 30);
  t.equal(acknowledge(hold, first), 0);
  t.ok(isDirty(hold), 'a call has ended since, though it cost its estimate');
  const second = settlementFor(hold);
  t.match(second, { settlement: { costNano: 70, revision: 2, isOpen: true }, endedCalls: 1 });
  t.equal(acknowledge(hold, second), 1);
  t.notOk(isDirty(hold));
  endCall(hold, 40, 5);
  const last = settlementFor(hold);
  t.match(last, { settlement: { costNano: 35, revision: 3, isOpen: false } });
  t.equal(acknowledge(hold, last), 1);
  t.notOk(isDirty(hold), 'a settled hold needs no further settlement');
});
