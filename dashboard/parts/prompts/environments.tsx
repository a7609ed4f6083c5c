/** Environments of a prompt. */
import { Hostile } from '../text/hostile.tsx';

/** Shows names, with the versions that they name where those are given. */
export function Environments({ list }: { list: readonly { name: string; version?: string }[] }) {
  return (
    <span class="chips">
      {list.map(({ name, version }) => (
        <span key={name} class={name === 'production' ? 'chip chip-good' : 'chip'}>
          <Hostile text={name} /> {version}
        </span>
      ))}
    </span>
  );
}
