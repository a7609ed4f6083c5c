/** A question before what cannot be taken back. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { ApiFailure } from '../../client/call.ts';
import { toFailure } from '../../client/resource.ts';
import { FailureNotice } from '../failure/failure.tsx';
import { Dialog } from './dialog.tsx';

export type ConfirmProps = {
  title: string;
  /** What will happen. */
  text: ComponentChildren;
  /** The verb on the button. */
  verb: string;
  run: () => Promise<void>;
  onClose: () => void;
};

/** Asks, runs, and closes after a success; a failure is shown in place. */
export function Confirm({ title, text, verb, run, onClose }: ConfirmProps) {
  const [failure, setFailure] = useState<ApiFailure | null>(null);
  const [isRunning, setRunning] = useState(false);
  const confirm = async () => {
    setRunning(true);
    try {
      await run();
      onClose();
    } catch (error) {
      setFailure(toFailure(error));
      setRunning(false);
    }
  };
  return (
    <Dialog
      title={title}
      onClose={onClose}
      actions={
        <>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="button" class="danger" disabled={isRunning} onClick={confirm}>
            {verb}
          </button>
        </>
      }
    >
      <p>{text}</p>
      <FailureNotice failure={failure} />
    </Dialog>
  );
}
