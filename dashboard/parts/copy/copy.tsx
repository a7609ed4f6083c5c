/** A button that puts a text into the clipboard. */
import { tell } from '../toast/toast.tsx';

/** Copies, and says so. */
export async function copyText(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    tell(`${what} copied`);
  } catch {
    tell('The browser does not let this page write to the clipboard', { isBad: true });
  }
}

/** @example <CopyButton text={id} what="Request id" /> */
export function CopyButton({ text, what, label = 'Copy' }: { text: string; what: string; label?: string }) {
  return (
    <button type="button" class="quiet" aria-label={`Copy ${what}`} onClick={() => copyText(text, what)}>
      {label}
    </button>
  );
}
