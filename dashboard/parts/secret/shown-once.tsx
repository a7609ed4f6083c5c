/** A secret that the API shows this once, in a dialog that one slip does not close. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { CopyButton } from '../copy/copy.tsx';
import { Dialog } from '../dialog/dialog.tsx';

export type ShownOnceProps = {
  title: string;
  /** Where it goes. */
  text: string;
  secret: string;
  /** Of the copy button. */
  what: string;
  onClose: () => void;
  /** How to use it. */
  children?: ComponentChildren;
};

/** Shows the secret until it is said to be kept. Escape, the cross and a click beside it ask first, and close the next time. */
export function ShownOnce({ title, text, secret, what, onClose, children }: ShownOnceProps) {
  const [isAsking, setAsking] = useState(false);
  return (
    <Dialog
      title={title}
      onClose={() => (isAsking ? onClose() : setAsking(true))}
      actions={
        <button type="button" class="primary" onClick={onClose}>
          I have kept it
        </button>
      }
    >
      <p>{text}</p>
      <div class="secret">
        <code>{secret}</code>
        <CopyButton text={secret} what={what} />
      </div>
      {isAsking && (
        <p class="bad" role="alert">
          It cannot be shown again. Have you kept it?
        </p>
      )}
      {children}
    </Dialog>
  );
}
