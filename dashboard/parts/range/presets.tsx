/** Ranges that end now, a button each. */
import { PRESETS, useRange } from '../../state/range.ts';

/** The one of the address is pressed. */
export function Presets({ onChosen }: { onChosen?: () => void }) {
  const range = useRange();
  return (
    <>
      {PRESETS.map(({ name, label }) => (
        <button
          key={name}
          type="button"
          aria-pressed={range.name === name}
          aria-label={`${name}, ${label.toLowerCase()}`}
          title={label}
          onClick={() => {
            range.set(name);
            onChosen?.();
          }}
        >
          {name}
        </button>
      ))}
    </>
  );
}
