/** Calls beyond the bound of connections. */
import t from 'tap';
import { waitFor } from '../../../support/assay.ts';
import { reply, startCalls, startWire } from './wire.ts';

t.test('calls beyond the bound of connections wait in order', async (t) => {
  const wire = await startWire(t, {
    onRequest: (socket, place) => setTimeout(() => socket.write(reply(String(place))), 20),
  });
  const { begin } = startCalls(t, { maxConnections: 2 });
  const calls = Array.from({ length: 7 }, (_, place) => begin(wire.origin, { path: `/${place}` }));
  calls[3]!.abort();
  const others = calls.filter((_, place) => place !== 3);
  t.same(
    (await Promise.all(others.map(({ whole }) => whole))).map(({ error }) => error),
    Array(6).fill(null),
  );
  t.equal(wire.sockets.length, 2);
  t.same(
    wire.requests.map((text) => text.slice(5, 7)),
    ['/0', '/1', '/2', '/4', '/5', '/6'],
  );
  t.same(calls[3]!.heard.events, []);
});

t.test('a connection that fails makes room for a waiting call', async (t) => {
  const wire = await startWire(t, {
    onRequest: (socket, place) => (place === 0 ? socket.destroy() : socket.write(reply('a'))),
  });
  const { call } = startCalls(t, { maxConnections: 1 });
  const [first, second] = await Promise.all([call(wire.origin), call(wire.origin)]);
  t.match(first.error, { code: 'provider_unreachable' });
  t.match(second, { body: 'a', error: null });
});

t.test('a call that finds no connection in time fails with the reason', async (t) => {
  const wire = await startWire(t, {});
  const busy: string[] = [];
  const { begin } = startCalls(t, {
    maxConnections: 3,
    concurrencyPerOrganization: 2,
    waitMs: 150,
    onBusy: (label) => busy.push(label),
  });
  const call = (organizationId: string) => begin(wire.origin, { organizationId });
  for (const organizationId of ['a', 'a', 'b']) call(organizationId);
  const [third, other] = await Promise.all([call('a').whole, call('c').whole]);
  t.match(third, {
    events: ['failure'],
    error: {
      code: 'provider_busy',
      message:
        'Your organization has 2 calls under way to the provider WIRE, as many as it may have now; Retry-After says when to try again',
    },
  });
  t.match(other, {
    events: ['failure'],
    error: {
      code: 'provider_busy',
      message:
        'All 3 connections of the gateway to the provider WIRE are in use; Retry-After says when to try again',
    },
  });
  t.same(busy, ['WIRE', 'WIRE'], 'both are counted');
  t.equal(wire.sockets.length, 3);
});

t.test('an organization at its bound keeps no other from a connection', async (t) => {
  const wire = await startWire(t, {
    onRequest: (socket, _place, text) => {
      if (text.startsWith('POST /short')) socket.write(reply('a'));
    },
  });
  const { begin } = startCalls(t, { maxConnections: 3, concurrencyPerOrganization: 2 });
  const silent = Array.from({ length: 4 }, () => begin(wire.origin, { organizationId: 'b' }));
  for (let n = 0; n < 3; n += 1)
    t.equal((await begin(wire.origin, { organizationId: 'a', path: '/short' }).whole).body, 'a');
  t.equal(wire.requests.filter((text) => text.startsWith('POST /v1')).length, 2, 'two of b are under way');
  silent[0]!.abort();
  await waitFor('the third to go', async () => wire.requests.length === 6);
  t.equal(silent[2]!.heard.error, null);
});

t.test('waiting calls that are aborted free their places, and connections go to the next ones', async (t) => {
  const wire = await startWire(t, { onRequest: (socket, place) => place > 0 && socket.write(reply('a')) });
  const { begin } = startCalls(t, { maxConnections: 1, concurrencyPerOrganization: 1 });
  const first = begin(wire.origin, { path: '/first' });
  const gone = [begin(wire.origin, { path: '/gone' }), begin(wire.origin, { path: '/gone' })];
  t.match((await begin(wire.origin).whole).error, { code: 'provider_busy' }, 'the line is full');
  for (const { abort } of gone) abort();
  const next = begin(wire.origin, { path: '/next' });
  t.same(next.heard.events, [], 'there is room in it again');
  await waitFor('the first request', async () => wire.requests.length === 1);
  first.abort();
  t.equal((await next.whole).body, 'a');
  t.same(
    wire.requests.map((text) => text.slice(5, text.indexOf(' HTTP'))),
    ['/first', '/next'],
  );
  t.same(
    gone.flatMap(({ heard }) => heard.events),
    [],
  );
});
