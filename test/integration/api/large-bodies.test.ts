/** Memory for large bodies of the API: what one organization sends leaves room for others. */
import { connect } from 'node:net';
import t from 'tap';
import { startTestApi } from '../../support/api.ts';
import { waitFor } from '../../support/assay.ts';

/** The largest body, and so the half of the least room, which one organization may have. */
const LARGEST = 32 * 1024 * 1024;
/** More than what a connection takes without room. */
const LARGE = 70 * 1024;

t.test('large bodies of one organization that never end leave room for those of another', async (t) => {
  const api = await startTestApi(t, { environment: { BODIES_MEMORY_BYTES: `${2 * LARGEST}` } });
  const metric = async (name: string) => {
    const text = await (await fetch(`${api.url}/metrics`)).text();
    return Number(new RegExp(`^assay_http_${name}(?:\\{[^}]*\\})? (\\d+)$`, 'm').exec(text)?.[1]);
  };
  const { hostname, port } = new URL(api.url);
  const beginning = [
    'POST /v1/log/request HTTP/1.1',
    'host: x',
    `authorization: Bearer ${api.own.key}`,
    'content-type: application/json',
    `content-length: ${LARGEST}`,
    '',
    ' '.repeat(LARGE),
  ].join('\r\n');
  const sockets = Array.from({ length: 8 }, () => {
    const socket = connect(Number(port), hostname).on('error', () => {});
    t.teardown(() => socket.destroy());
    socket.write(beginning);
    return socket;
  });
  await waitFor('the others to wait', async () => (await metric('bodies_waiting')) === 7);
  t.equal(await metric('bodies_bytes'), LARGEST, 'half of the room');

  const dataset = await api.call('/v1/dataset', { key: api.other.key, body: { name: 'large' } });
  const { id } = dataset.body.data as { id: string };
  const items = [{ request: { messages: [{ role: 'user', content: 'x'.repeat(LARGE) }] } }];
  const answer = await api.call(`/v1/dataset/${id}/items`, { key: api.other.key, body: { items } });
  t.equal(answer.status, 200, answer.text);

  for (const socket of sockets) socket.resetAndDestroy();
  await waitFor('all room to be free', async () => (await metric('bodies_bytes')) === 0);
});
