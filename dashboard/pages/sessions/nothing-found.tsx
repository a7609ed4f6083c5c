/** An empty list: the ways out of it, or how to send a first session. */
import { useResource } from '../../client/resource.ts';
import { CodeBlock } from '../../parts/copy/code-block.tsx';
import { gatewayAddress } from '../../parts/empty-product/gateway.ts';
import { KEY_PLACE } from '../../parts/empty-product/snippets.ts';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { ALL_TIME, readRange } from '../../state/range.ts';
import { loadSessions, type SessionList } from './use-sessions.ts';

function callFor(gateway: string): string {
  return `curl ${gateway}/v1/chat/completions \\
  -H 'Authorization: Bearer ${KEY_PLACE}' -H 'Content-Type: application/json' \\
  -H 'Service-Session-Id: trip-42' \\
  -H 'Service-Session-Path: /agent/plan' \\
  -H 'Service-Session-Name: Trip to Oslo' \\
  -d '{"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Plan a day in Oslo"}]}'`;
}

function NoSessions() {
  return (
    <section class="sessions-none card">
      <h2>No session yet</h2>
      <p>
        Requests that belong together, such as a chat or a run of an agent, become a session by a header with
        an id of your choice. A path places a request in the session's tree, and a name is for people; both
        may be left out.
      </p>
      <CodeBlock code={callFor(gatewayAddress())} what="the call" />
    </section>
  );
}

/** Says which parts of the query could be left out. */
export function NothingFound({ list }: { list: SessionList }) {
  const { q, search, name, range, address } = list;
  const everything = {
    q: '',
    search: '',
    name: '',
    range: { ...readRange(ALL_TIME, Date.now()), set: range.set },
  };
  const { data, failure, reload } = useResource('any session', (signal) =>
    loadSessions(everything, { offset: 0, limit: 1 }, signal),
  );
  if (failure !== null) return <FailureNotice failure={failure} retry={reload} />;
  if (data === null) return <p class="muted">Loading…</p>;
  if (data.length === 0) return <NoSessions />;
  const ways: [string, boolean, Record<string, string | null>][] = [
    ['Without the query', q.trim() !== '', { q: null }],
    ['Without the search', search !== '', { search: null }],
    ['Of all names', name !== '', { name: null }],
    ['All times', range.name !== ALL_TIME, { range: ALL_TIME }],
    ['All sessions', true, { q: null, search: null, name: null, range: ALL_TIME }],
  ];
  return (
    <div class="empty">
      <p>
        <strong>No session is found.</strong>
      </p>
      <p class="sessions-ways">
        {ways
          .filter(([, isOffered]) => isOffered)
          .map(([title, , changes]) => (
            <button key={title} type="button" onClick={() => address.set({ ...changes, page: null })}>
              {title}
            </button>
          ))}
      </p>
    </div>
  );
}
