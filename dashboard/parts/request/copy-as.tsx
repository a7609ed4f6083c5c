/** Copies the call of a request. */
import { toFailure } from '../../client/resource.ts';
import { identity } from '../../state/me.ts';
import { copyText } from '../copy/copy.tsx';
import { bodiesOf } from '../record/open-record.ts';
import { tell } from '../toast/toast.tsx';
import { type SnippetKind, snippet } from './snippets.ts';

const KINDS: readonly { kind: SnippetKind; title: string }[] = [
  { kind: 'curl', title: 'cURL' },
  { kind: 'javascript', title: 'JavaScript' },
  { kind: 'python', title: 'Python' },
];
/** Of `npm start`, where the API does not know the gateway's address. */
const LOCAL_GATEWAY = 'http://127.0.0.1:8787';

/** Copies the call of a request, with the request's own body, or tells why not. */
export async function copyAs(kind: SnippetKind, id: string, path: string): Promise<void> {
  let body: string | null;
  try {
    body = await bodiesOf(id).copy(['request']);
  } catch (error) {
    return tell(toFailure(error).message, { isBad: true });
  }
  if (body === null) return tell('The body is too long for the clipboard', { isBad: true });
  const me = identity.value.kind === 'signed-in' ? identity.value.me : null;
  await copyText(
    snippet(kind, { gatewayUrl: me?.gateway_url ?? LOCAL_GATEWAY, path, body }),
    KINDS.find((one) => one.kind === kind)!.title,
  );
}

/** A button for each kind of program. */
export function CopyAs({ id, path }: { id: string; path: string }) {
  return (
    <span class="request-copy">
      Copy as
      {KINDS.map(({ kind, title }) => (
        <button key={kind} type="button" class="quiet" onClick={() => void copyAs(kind, id, path)}>
          {title}
        </button>
      ))}
    </span>
  );
}
