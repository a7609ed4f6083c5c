/** Translations that wait for a thread: by turns of their organizations, bounded, and not for a client that has left. */
import t from 'tap';
import { PROVIDERS } from '../../../../gateway/providers/registry.ts';
import { translateBody } from '../../../../gateway/providers/translation-thread.ts';

const text = 'x'.repeat(2 * 1024 * 1024);
const bytes = Buffer.from(JSON.stringify({ model: 'm', messages: [{ role: 'user', content: text }] }));
const translate = (organizationId: string, signal = new AbortController().signal) =>
  translateBody({ bytes, endpoint: 'chat', model: 'claude-sonnet-4-5', row: PROVIDERS.anthropic }, 10, {
    organizationId,
    signal,
  });

t.test('a request whose client has left is not translated', async (t) => {
  await t.rejects(translate('o', AbortSignal.abort()), { code: 'client_closed_request' });
});

t.test('of one organization 512 requests wait, and another still gets its turn', async (t) => {
  const leaving = new AbortController();
  const waiting = Promise.allSettled(Array.from({ length: 513 }, () => translate('one', leaving.signal)));
  await t.rejects(translate('one'), { code: 'bodies_busy', status: 503 });
  const translated = await translate('other');
  t.match(JSON.parse(translated.toString()), { messages: [{ role: 'user', content: text }] });
  leaving.abort();
  const ends = await waiting;
  const left = ends.filter(({ status }) => status === 'rejected');
  t.ok(left.length > 256, `${left.length} of 513 had not begun when their client left`);
});
