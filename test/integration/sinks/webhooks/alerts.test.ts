/** Alerts from the requests to the receivers of their webhooks. */
import t from 'tap';
import type { AlertJson } from '#core/contracts/alert.ts';
import { waitFor } from '../../../support/assay.ts';
import { startWebhookWorld } from './world.ts';

const world = await startWebhookWorld(t);
const EVENTS = ['alert.fired', 'alert.resolved'];

/** Creates an alert that fires at its first evaluation, because there was no traffic. */
async function create(more: object): Promise<AlertJson> {
  const body = {
    name: 'No traffic',
    query: { measures: [{ metric: 'requests', aggregate: 'count' }] },
    window_minutes: 10,
    comparison: '<',
    threshold: 1,
    ...more,
  };
  const answer = await world.api.call('/v1/alert', { body });
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body.data as AlertJson;
}
const remove = (id: string) => world.api.call(`/v1/alert/${id}`, { method: 'DELETE' });

t.test('an alert tells the webhooks that it names, or all that listen, and each of them once', async (t) => {
  const [all, named, deaf] = [await world.receiver(), await world.receiver(), await world.receiver()];
  await world.make({ url: all.url, events: EVENTS });
  const { id: namedId } = await world.make({ url: named.url, events: EVENTS, format: 'chat' });
  const { id: deafId } = await world.make({ url: deaf.url, events: ['request.logged'] });

  const alert = await create({ webhooks: [namedId, deafId] });
  await waitFor('the named webhook is told', () => named.received.length === 1);
  t.match(named.received[0]!.body, {
    text: /^Alert fired: No traffic: critical: requests count over 10 min is 0, below 1$/,
  });
  const toAll = await create({});
  await waitFor('both are told', () => all.received.length === 1 && named.received.length === 2);
  t.match(all.received[0]!.body, {
    type: 'alert.fired',
    data: { alert: { alert_id: toAll.id, severity: 'critical', value: 0, group: {}, reason: null } },
  });
  t.notOk(JSON.stringify(all.received[0]!.body).includes('webhook_ids'));

  await remove(alert.id);
  await remove(toAll.id);
  await waitFor('both are resolved', () => all.received.length === 2 && named.received.length === 4);
  t.match(all.received[1]!.body, { type: 'alert.resolved', data: { alert: { reason: 'deleted' } } });
  t.equal(deaf.received.length, 0, 'a webhook that listens to other events is not told');
});

t.test('an alert whose webhook is gone goes on, and tells nobody else', async (t) => {
  const [gone, listening] = [await world.receiver(), await world.receiver()];
  const { id: goneId } = await world.make({ url: gone.url, events: EVENTS });
  await world.make({ url: listening.url, events: EVENTS });
  const quiet = await create({ enabled: false, webhooks: [goneId] });
  await world.api.call(`/v1/webhook/${goneId}`, { method: 'DELETE' });
  await world.api.call(`/v1/alert/${quiet.id}`, { method: 'PATCH', body: { enabled: true } });
  await waitFor('it fires', async () => {
    const { body } = await world.api.call(`/v1/alert/${quiet.id}`);
    return (body.data as AlertJson).state === 'critical';
  });
  // Behind it in the feed, so that the first event has been passed when this one arrives.
  await create({ name: 'Behind' });
  await waitFor('the later alert is told', () => listening.received.length > 0);
  t.match(listening.received[0]!.body, { data: { alert: { name: 'Behind' } } });
  t.equal(gone.received.length, 0);
});
