/** Short messages at the lower edge: what was done, and what went wrong with it. */
import { signal } from '@preact/signals';
import { toFailure } from '../../client/resource.ts';
import { Hostile } from '../text/hostile.tsx';

type Toast = { id: number; text: string; isBad: boolean };

const SHOWN_MS = 6_000;
const MOST = 4;
const toasts = signal<readonly Toast[]>([]);
let lastId = 0;

/** Shows a message for some seconds. */
export function tell(text: string, { isBad = false } = {}): void {
  lastId++;
  const toast = { id: lastId, text, isBad };
  toasts.value = [...toasts.value, toast].slice(-MOST);
  setTimeout(() => {
    toasts.value = toasts.value.filter((one) => one !== toast);
  }, SHOWN_MS);
}

/** Runs what a click asked for, and tells how it ended. */
export async function attempt(run: () => Promise<void>, success: string): Promise<boolean> {
  try {
    await run();
    tell(success);
    return true;
  } catch (error) {
    tell(toFailure(error).message, { isBad: true });
    return false;
  }
}

/** The place of the messages; screen readers say them. */
export function Toasts() {
  return (
    <output class="toasts">
      {toasts.value.map(({ id, text, isBad }) => (
        <div key={id} class={isBad ? 'toast toast-bad' : 'toast'}>
          <Hostile text={text} />
        </div>
      ))}
    </output>
  );
}
