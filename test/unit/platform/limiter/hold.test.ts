import t from 'tap';
import { draw, endCall, enter, heard, isOwing, openHold, restOf, wordOf } from '#platform/limiter/hold.ts';

const NOW = 1_000;
const holdOf = (reserved: number) =>
  openHold({ organizationId: 'o', counter: 'c', reservationId: 'r', expiresAt: NOW + 100, reserved });

t.test('calls draw what is reserved, and no more', async (t) => {
  const hold = holdOf(250);
  enter(hold, 100);
  t.ok(draw(hold, 100, NOW, 0));
  t.notOk(draw(hold, 51, NOW, 0), 'the rest is too small');
  t.equal(restOf(hold, NOW), 50);
  t.ok(draw(hold, 50, NOW, 0));
  t.notOk(draw(hold, 0, NOW, 0), 'nor can a call that costs nothing, once nothing is left');
});

t.test('nobody draws once the sub-bucket may have ended', async (t) => {
  const hold = holdOf(1_000);
  t.ok(draw(hold, 10, NOW + 99, 0));
  t.notOk(draw(hold, 10, NOW + 100, 0));
  t.equal(restOf(hold, NOW + 100), 0);
});

t.test('what a call did not cost can be drawn again, and what cost too much ends the drawing', async (t) => {
  const hold = holdOf(100);
  t.ok(draw(hold, 100, NOW, 0));
  endCall(hold, 100, 20);
  t.ok(draw(hold, 80, NOW, 0));
  t.notOk(isOwing(hold), 'the store need not hear of it');
  endCall(hold, 80, 81);
  t.ok(hold.isClosed);
  t.ok(isOwing(hold), 'now it must');
  t.match(wordOf(hold), { settlement: { costNano: 101, isOpen: false }, ended: 2 });
});

t.test('the store is told the whole, until all calls have ended', async (t) => {
  const hold = holdOf(100);
  enter(hold, 30);
  enter(hold, 40);
  hold.isClosed = true;
  const rest = wordOf(hold);
  t.match(rest, { settlement: { costNano: 70, turn: 1, isOpen: true }, ended: 0 });
  endCall(hold, 30, 30);
  t.equal(heard(hold, rest), 0);
  t.ok(isOwing(hold), 'a call has ended since, though its estimate stands');
  const one = wordOf(hold);
  t.match(one, { settlement: { costNano: 70, turn: 2, isOpen: true }, ended: 1 });
  t.equal(heard(hold, one), 1);
  t.notOk(isOwing(hold));
  endCall(hold, 40, 5);
  const last = wordOf(hold);
  t.match(last, { settlement: { costNano: 35, turn: 3, isOpen: false } });
  t.equal(heard(hold, last), 1);
  t.notOk(isOwing(hold), 'that is the end of it');
});
