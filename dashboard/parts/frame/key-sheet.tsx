/** The sheet of keys: those that work at this moment. */
import type { Group } from '../../state/keys.ts';
import { Dialog } from '../dialog/dialog.tsx';

const WORDS: Readonly<Record<string, string>> = {
  ArrowUp: '↑',
  ArrowDown: '↓',
  ArrowLeft: '←',
  ArrowRight: '→',
  Mod: navigator.platform.startsWith('Mac') ? '⌘' : 'Ctrl',
};

/** A key, or keys one after the other. */
function Keys({ name }: { name: string }) {
  return (
    <>
      {name.split(' ').map((chord) => (
        <kbd key={chord}>
          {chord === '+'
            ? chord
            : chord
                .split('+')
                .map((part) => WORDS[part] ?? part)
                .join(' ')}
        </kbd>
      ))}
    </>
  );
}

/** Takes the groups as they were before the sheet itself opened, which hides them. */
export function KeySheet({ groups, onClose }: { groups: readonly Group[]; onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose} isWide>
      <div class="key-sheet">
        {groups
          .filter(({ bindings }) => Object.keys(bindings).length > 0)
          .map(({ title, bindings }) => (
            <section key={title}>
              <h3>{title}</h3>
              <dl>
                {Object.entries(bindings).map(([name, { what }]) => (
                  <div key={name}>
                    <dt>
                      <Keys name={name} />
                    </dt>
                    <dd>{what}</dd>
                  </div>
                ))}
              </dl>
            </section>
          ))}
      </div>
    </Dialog>
  );
}
