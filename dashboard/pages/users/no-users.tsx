/** No user: why, and what to do about it. */
import { CodeBlock } from '../../parts/copy/code-block.tsx';
import { gatewayAddress } from '../../parts/empty-product/gateway.ts';
import { KEY_PLACE } from '../../parts/empty-product/snippets.ts';
import { useAddress } from '../../state/address.ts';
import { ALL_TIME } from '../../state/range.ts';

function callFor(gateway: string): string {
  return `curl ${gateway}/v1/chat/completions \\
  -H 'Authorization: Bearer ${KEY_PLACE}' -H 'Content-Type: application/json' \\
  -H 'Service-User-Id: ada' \\
  -d '{"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Hello"}]}'`;
}

/** @param hasUsers whether any request names a user */
export function NoUsers({ hasUsers, hasQuery }: { hasUsers: boolean; hasQuery: boolean }) {
  const { set } = useAddress();
  if (!hasUsers)
    return (
      <section class="users-none card">
        <h2>No user yet</h2>
        <p>
          A header of a call names the user it is for, by an id of your choice. Requests without it belong to
          nobody.
        </p>
        <CodeBlock code={callFor(gatewayAddress())} what="the call" />
      </section>
    );
  return (
    <div class="empty">
      <p>
        <strong>No user is found.</strong>
      </p>
      <p class="users-ways">
        {hasQuery && (
          <button type="button" onClick={() => set({ q: null, page: null })}>
            Without the query
          </button>
        )}
        <button type="button" onClick={() => set({ range: ALL_TIME, page: null })}>
          All times
        </button>
        <button type="button" onClick={() => set({ page: null })}>
          First page
        </button>
      </p>
    </div>
  );
}
