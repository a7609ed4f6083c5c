/** A modal dialog: the browser's own, which keeps the focus inside and gives it back. */
import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useKeys } from '../../state/keys.ts';
import { isWriting } from '../../state/written.ts';
import { Hostile } from '../text/hostile.tsx';

export type DialogProps = {
  /** May have a name that a stranger gave. */
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  /** Buttons below. */
  actions?: ComponentChildren;
  isWide?: boolean;
};

/** What somebody fills in. */
const FIELDS = '.dialog-body :is(input, select, textarea):not(:disabled)';

/** Texts that are lost with the dialog. */
const WRITTEN = '.form :is(textarea, [type=text])';

/**
 * Is open as long as it is shown, with the focus on its first field. Escape, the cross and a click beside it close it; the first of
 * them asks where something was written.
 */
export function Dialog({ title, onClose, children, actions, isWide = false }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  /** Where the pointer went down: a drag over the edge, to select a text, ends in a click on the dialog. */
  const pressed = useRef<EventTarget | null>(null);
  const hasText = useRef(false);
  const [isAsked, setAsked] = useState(false);
  const leave = () => {
    const isSending = element.current?.querySelector('.form[aria-busy=true]') !== null;
    if (hasText.current && isWriting() && !isSending && !isAsked) setAsked(true);
    else onClose();
  };
  useKeys(title, {}, { isModal: true });
  useLayoutEffect(() => {
    const dialog = element.current;
    const before = document.activeElement;
    dialog?.showModal();
    // The browser's choice is the first that can have it: the cross.
    dialog?.querySelector<HTMLElement>(FIELDS)?.focus();
    // The browser gives the focus back only when a dialog is closed that is still there.
    return () => {
      dialog?.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape is the key for it
    <dialog
      ref={element}
      class={isWide ? 'dialog dialog-wide' : 'dialog'}
      aria-labelledby={titleId}
      tabIndex={-1}
      onCancel={(event) => {
        event.preventDefault();
        leave();
      }}
      onInput={({ target }) => {
        hasText.current ||= (target as Element).matches(WRITTEN);
        setAsked(false);
      }}
      onPointerDown={(event) => {
        pressed.current = event.target;
      }}
      onClick={(event) => {
        if (event.target === element.current && pressed.current === element.current) leave();
      }}
    >
      <div class="dialog-inside">
        <header class="dialog-head">
          <h2 id={titleId}>
            <Hostile text={title} />
          </h2>
          <button type="button" class="quiet" aria-label="Close" onClick={leave}>
            ✕
          </button>
        </header>
        {isAsked && (
          <p class="bad" role="alert">
            What you wrote is not saved. Close once more to discard it.
          </p>
        )}
        <div class="dialog-body">{children}</div>
        {actions !== undefined && <footer class="dialog-actions">{actions}</footer>}
      </div>
    </dialog>
  );
}
