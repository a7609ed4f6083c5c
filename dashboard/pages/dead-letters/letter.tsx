/** One dead letter: why it could not be stored, what it holds, and what can be done with it. */
import { useState } from 'preact/hooks';
import type { DeadLetterJson, LetterText, RetriedJson } from '#core/contracts/dead-letter.ts';
import { call } from '../../client/call.ts';
import { toFailure, useResource } from '../../client/resource.ts';
import { CopyButton } from '../../parts/copy/copy.tsx';
import { Confirm } from '../../parts/dialog/confirm.tsx';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { Moment } from '../../parts/formats/moment.tsx';
import { bytes, NOTHING } from '../../parts/formats/numbers.ts';
import { Hostile } from '../../parts/text/hostile.tsx';
import { tell } from '../../parts/toast/toast.tsx';
import { may } from '../../state/me.ts';

function Part({ title, part }: { title: string; part: LetterText }) {
  return (
    <details>
      <summary>
        {title} ({bytes(part.bytes)}
        {part.encoding === 'base64' && ', no text: in base64'}
        {part.is_cut && ', its beginning'})
      </summary>
      {part.text !== '' && (
        <>
          <CopyButton text={part.text} what={title} />
          <pre class="letter-text">
            <Hostile text={part.text} />
          </pre>
        </>
      )}
    </details>
  );
}

function Content({ letter }: { letter: DeadLetterJson }) {
  return (
    <>
      <dl class="facts">
        <div>
          <dt>Time</dt>
          <dd>
            <Moment at={letter.created_at} />
          </dd>
        </div>
        <div>
          <dt>Request id</dt>
          <dd class="break">{letter.request_id === null ? NOTHING : <Hostile text={letter.request_id} />}</dd>
        </div>
        <div>
          <dt>Read from</dt>
          <dd class="break">
            <Hostile text={letter.origin} />
          </dd>
        </div>
      </dl>
      <h3>Reason</h3>
      <p class="break">
        <Hostile text={letter.reason} />
      </p>
      {letter.entry !== null && (
        <>
          <Part title="Head" part={letter.entry.head} />
          <Part title="Request body" part={letter.entry.request_body} />
          <Part title="Response body" part={letter.entry.response_body} />
        </>
      )}
      {letter.rest !== null && (
        <>
          <p class="muted">These bytes are no log entry, so they cannot be stored.</p>
          <Part title="Bytes" part={letter.rest} />
        </>
      )}
    </>
  );
}

export type LetterProps = { id: string; onClose: () => void; onChanged: () => void };

/** Shows a letter in a dialog. A retry that is refused again shows the new reason. */
export function Letter({ id, onClose, onChanged }: LetterProps) {
  const path = `/v1/dead-letter/${encodeURIComponent(id)}`;
  const { data, failure, reload } = useResource(`dead letter ${id}`, (signal) =>
    call<DeadLetterJson>('GET', path, undefined, signal),
  );
  const [isDropping, setDropping] = useState(false);
  const [isRetrying, setRetrying] = useState(false);
  const retry = async () => {
    setRetrying(true);
    try {
      const { outcome } = await call<RetriedJson>('POST', `${path}/retry`);
      onChanged();
      if (outcome === 'stored') {
        tell('Stored: the letter is gone');
        onClose();
        return;
      }
      tell('It was refused again', { isBad: true });
      reload();
    } catch (error) {
      tell(toFailure(error).message, { isBad: true });
    }
    setRetrying(false);
  };
  if (isDropping) {
    return (
      <Confirm
        title="Drop this letter?"
        text="Its request is never stored then. This cannot be taken back."
        verb="Drop"
        run={async () => {
          await call('DELETE', path);
          tell('Dropped');
          onChanged();
          onClose();
        }}
        onClose={() => setDropping(false)}
      />
    );
  }
  return (
    <Dialog
      title={`Dead letter ${id}`}
      isWide
      onClose={onClose}
      actions={
        <>
          <button type="button" class="danger" disabled={!may('write')} onClick={() => setDropping(true)}>
            Drop
          </button>
          <button
            type="button"
            class="primary"
            disabled={!may('write') || isRetrying || data?.entry === null}
            onClick={retry}
          >
            Retry
          </button>
        </>
      }
    >
      <FailureNotice failure={failure} retry={reload} />
      {failure === null && data !== null && <Content letter={data} />}
    </Dialog>
  );
}
