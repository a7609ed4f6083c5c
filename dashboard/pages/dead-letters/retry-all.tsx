/** The retry of all letters, or of those with one reason, with its progress. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ApiFailure } from '../../client/call.ts';
import { toFailure } from '../../client/resource.ts';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { count } from '../../parts/formats/numbers.ts';
import { Hostile } from '../../parts/text/hostile.tsx';
import { type Progress, retryEach } from './retry-each.ts';

type State = 'asking' | 'running' | 'done';

/** `reason` is empty for letters of any reason. */
export type RetryAllProps = { reason: string; onClose: () => void; onChanged: () => void };

/** Closing it stops after the letter that is being retried. */
export function RetryAll({ reason, onClose, onChanged }: RetryAllProps) {
  const [state, setState] = useState<State>('asking');
  const [progress, setProgress] = useState<Progress>({ stored: 0, refused: 0 });
  const [failure, setFailure] = useState<ApiFailure | null>(null);
  const controller = useRef(new AbortController());
  useEffect(() => () => controller.current.abort(), []);
  const run = async () => {
    setState('running');
    setFailure(null);
    const { signal } = controller.current;
    try {
      await retryEach(reason, setProgress, signal);
      setState('done');
    } catch (error) {
      if (!signal.aborted) {
        setFailure(toFailure(error));
        setState('asking');
      }
    }
    // Also after a stop: some have been retried.
    onChanged();
  };
  return (
    <Dialog
      title={reason === '' ? 'Retry all letters' : 'Retry all letters with this reason'}
      onClose={onClose}
      actions={
        <>
          <button type="button" onClick={onClose}>
            {state === 'running' ? 'Stop' : 'Close'}
          </button>
          {state !== 'done' && (
            <button type="button" class="primary" disabled={state === 'running'} onClick={run}>
              Retry all
            </button>
          )}
        </>
      }
    >
      {reason !== '' && (
        <p class="break">
          <Hostile text={reason} />
        </p>
      )}
      <p role="status">
        {state === 'asking' && 'Each letter is stored, or kept with a new reason.'}
        {state !== 'asking' && `${count(progress.stored)} stored, ${count(progress.refused)} refused again`}
        {state === 'done' && '. All have been retried.'}
      </p>
      <FailureNotice failure={failure} />
    </Dialog>
  );
}
