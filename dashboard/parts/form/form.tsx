/** A form that sends once: its button waits for the answer, and a failure is shown above it. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { ApiFailure } from '../../client/call.ts';
import { toFailure } from '../../client/resource.ts';
import { noteSent } from '../../state/written.ts';
import { FailureNotice } from '../failure/failure.tsx';

export type FormProps = {
  /** On the button. */
  verb: string;
  /** Throws what the API refuses. */
  onSubmit: () => Promise<void>;
  children: ComponentChildren;
  /** Whether what is to be sent is there; it is when nothing is said. */
  isReady?: boolean;
  /** Beside the button. */
  more?: ComponentChildren;
};

/** @example <Form verb="Create key" onSubmit={create}><Field … /></Form> */
export function Form({ verb, onSubmit, children, isReady = true, more }: FormProps) {
  const [failure, setFailure] = useState<ApiFailure | null>(null);
  const [isSending, setSending] = useState(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (isSending || !isReady) return;
    setSending(true);
    setFailure(null);
    try {
      await onSubmit();
      noteSent();
    } catch (error) {
      setFailure(toFailure(error));
    }
    setSending(false);
  };
  return (
    <form class="form" aria-busy={isSending} onSubmit={submit}>
      {children}
      <FailureNotice failure={failure} />
      <div class="form-actions">
        <button type="submit" class="primary" disabled={isSending || !isReady}>
          {verb}
        </button>
        {more}
      </div>
    </form>
  );
}
