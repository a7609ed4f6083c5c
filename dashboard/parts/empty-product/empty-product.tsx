/** How to send a first request; leaves by itself when it has come. */
import { useEffect, useState } from 'preact/hooks';
import { call } from '../../client/call.ts';
import { useResource } from '../../client/resource.ts';
import { CodeBlock } from '../copy/code-block.tsx';
import { FailureNotice } from '../failure/failure.tsx';
import { gatewayAddress, gatewayUrl } from './gateway.ts';
import { KEY_PLACE, snippetsFor, USUAL_GATEWAY } from './snippets.ts';

const EVERY_MS = 1_000;

function Snippets({ gateway }: { gateway: string }) {
  const snippets = snippetsFor(gateway);
  const [chosen, setChosen] = useState(snippets[0]!.name);
  const { name, code } = snippets.find((one) => one.name === chosen)!;
  return (
    <>
      <div class="empty-product-choice">
        {snippets.map((one) => (
          <button
            key={one.name}
            type="button"
            aria-pressed={one.name === name}
            onClick={() => setChosen(one.name)}
          >
            {one.name}
          </button>
        ))}
      </div>
      <CodeBlock code={code} what={`the ${name} call`} />
    </>
  );
}

/**
 * Shows working calls, and looks every second whether a request was stored.
 * @param onFirst is called once there is one
 */
export function EmptyProduct({ onFirst }: { onFirst: () => void }) {
  const { data, failure } = useResource(
    'first request',
    (signal) =>
      call<{ count: number }>('POST', '/v1/request/count/query', { filter: 'all', atMost: 1 }, signal),
    { everyMs: EVERY_MS },
  );
  const hasCome = data !== null && data.count > 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: told once, not for each new function
  useEffect(() => {
    if (hasCome) onFirst();
  }, [hasCome]);
  const known = gatewayUrl();
  return (
    <section class="empty-product card">
      <h2>No request yet</h2>
      <p>
        Send one through the gateway: change the address and the key of your client, and nothing else. In
        place of <code>{KEY_PLACE}</code> goes an API key, which the start of Assay has printed, or a new one
        of <a href="/keys">Keys</a>.
      </p>
      <p>
        The provider's key is not in the call: it is <code>OPENAI_API_KEY</code> or its like at the start of
        Assay, or one that you store under <a href="/keys?tab=provider-keys">Provider keys</a>.
      </p>
      {known === null && (
        <p>
          The API does not know the gateway's address: it is printed at the start, and is{' '}
          <code>{USUAL_GATEWAY}</code> unless <code>HOST</code> or <code>GATEWAY_PORT</code> say otherwise.
        </p>
      )}
      <Snippets gateway={gatewayAddress()} />
      <p class="muted" role="status">
        Waiting for the first request…
      </p>
      <FailureNotice failure={failure} />
    </section>
  );
}
