/** Translations that wait for a thread: by turns of their organizations, bounded, and not for a client that has left. */
import t from 'tap';
import { PROVIDERS } from '../../../../gateway/providers/registry.ts';
import { translateBody } from '../../../../gateway/translations/mod.ts';

const text = 'x'.repeat(2 * 1024 * 1024);
const bytes = Buffer.from(JSON.stringify({ model: 'm', messages: [{ role: 'user', content: text }] }));
const translate = (organizationId: string, signal = new AbortController().signal) =>
  translateBody(
    { bytes, change: 'chat by messages', model: 'claude-sonnet-4-5', row: PROVIDERS.anthropic },
    10,
    {
      organizationId,
      signal,
    },
  );

t.test('a request whose client leaves while it waits gives its place to another', async (t) => {
  const leaving = new AbortController();
  const first = translate('one');
  const waiting = Array.from({ length: 512 }, () => translate('one', leaving.signal));
  await t.rejects(translate('one'), { code: 'bodies_busy' });
  leaving.abort();
  const next = translate('one');
  for (const { status, reason } of (await Promise.allSettled(waiting)) as PromiseRejectedResult[])
    if (status !== 'rejected' || reason.code !== 'client_closed_request') t.fail('one was translated');
  t.match(JSON.parse((await first).toString()), { messages: [{ content: text }] });
  t.match(JSON.parse((await next).toString()), { messages: [{ content: text }] });
});

t.test('while requests of one organization wait, another gets its turn', async (t) => {
  const leaving = new AbortController();
  const [first, ...waiting] = Array.from({ length: 100 }, () => translate('one', leaving.signal));
  await translate('other');
  await first;
  leaving.abort();
  const left = (await Promise.allSettled(waiting)).filter(({ status }) => status === 'rejected');
  t.ok(left.length > 50, `${left.length} of 99 had not begun`);
});
