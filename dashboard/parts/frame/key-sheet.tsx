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

/** Keys that do the same in a row: each of them, or the first and the last of many. */
function rowsOf(bindings: Group['bindings']): { names: string[]; what: string }[] {
  const rows: { names: string[]; what: string }[] = [];
  for (const [name, { what }] of Object.entries(bindings)) {
    const before = rows.at(-1);
    if (before?.what === what) before.names.push(name);
    else rows.push({ names: [name], what });
  }
  return rows;
}

const MOST_NAMES = 3;

function Names({ names }: { names: readonly string[] }) {
  if (names.length <= MOST_NAMES) return names.map((name) => <Keys key={name} name={name} />);
  return (
    <>
      <Keys name={names[0]!} /> … <Keys name={names.at(-1)!} />
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
                {rowsOf(bindings).map(({ names, what }) => (
                  <div key={what}>
                    <dt>
                      <Names names={names} />
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
