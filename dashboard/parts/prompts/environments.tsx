/** Environments of a prompt. */
import { Hostile } from '../text/hostile.tsx';

export type EnvironmentsProps = {
  list: readonly { name: string; version?: string }[];
  /** Is given where they can be removed. */
  onRemove?: ((name: string) => void) | undefined;
};

/** Shows names, with the versions that they name where those are given. */
export function Environments({ list, onRemove }: EnvironmentsProps) {
  return (
    <span class="chips">
      {list.map(({ name, version }) => (
        <span key={name} class={name === 'production' ? 'chip chip-good' : 'chip'}>
          <Hostile text={name} /> {version}
          {onRemove !== undefined && (
            <button
              type="button"
              class="quiet"
              aria-label={`Remove the environment ${name}`}
              onClick={() => onRemove(name)}
            >
              ✕
            </button>
          )}
        </span>
      ))}
    </span>
  );
}
