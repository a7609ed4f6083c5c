/** Chooses columns and their order. */
import { useState } from 'preact/hooks';
import { call } from '../../client/call.ts';
import { useResource } from '../../client/resource.ts';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { Hostile } from '../../parts/text/hostile.tsx';
import { columnsText, DEFAULT_COLUMNS, FIXED_COLUMNS, MOST_COLUMNS } from './columns.ts';
import type { RequestList } from './use-list.ts';

/** Property names that are offered. */
const MOST_PROPERTIES = 100;

function moved(names: readonly string[], at: number, step: number): string[] {
  const to = at + step;
  if (to < 0 || to >= names.length) return [...names];
  const next = [...names];
  [next[at], next[to]] = [next[to]!, next[at]!];
  return next;
}

/** A list of the columns that are shown, and one of those that could be. */
export function ColumnChooser({ list, onClose }: { list: RequestList; onClose: () => void }) {
  const [names, setNames] = useState<readonly string[]>(list.columns.map(({ name }) => name));
  const { data: properties } = useResource('property keys', (signal) =>
    call<string[]>('GET', '/v1/property/keys', undefined, signal),
  );
  const offered = [
    ...FIXED_COLUMNS,
    ...(properties ?? [])
      .slice(0, MOST_PROPERTIES)
      .map((name) => ({ name: `property:${name}`, title: `Property ${name}` })),
    ...list.columns
      .filter(({ name }) => name.startsWith('score:'))
      .map(({ name, title }) => ({ name, title })),
  ];
  const titleOf = (name: string) => offered.find((one) => one.name === name)?.title ?? name;
  const apply = () => {
    list.address.set({ cols: columnsText(names) });
    onClose();
  };
  return (
    <Dialog
      title="Columns"
      onClose={onClose}
      actions={
        <>
          <button type="button" onClick={() => setNames(DEFAULT_COLUMNS)}>
            As at first
          </button>
          <button type="button" class="primary" disabled={names.length === 0} onClick={apply}>
            Show these
          </button>
        </>
      }
    >
      <ol class="columns-shown">
        {names.map((name, at) => (
          <li key={name}>
            <span>
              <Hostile text={titleOf(name)} />
            </span>
            <button
              type="button"
              class="quiet"
              aria-label={`${titleOf(name)}: further left`}
              disabled={at === 0}
              onClick={() => setNames(moved(names, at, -1))}
            >
              ↑
            </button>
            <button
              type="button"
              class="quiet"
              aria-label={`${titleOf(name)}: further right`}
              disabled={at === names.length - 1}
              onClick={() => setNames(moved(names, at, 1))}
            >
              ↓
            </button>
            <button
              type="button"
              class="quiet"
              aria-label={`Hide ${titleOf(name)}`}
              onClick={() => setNames(names.filter((one) => one !== name))}
            >
              ✕
            </button>
          </li>
        ))}
      </ol>
      <div class="columns-offered">
        {offered
          .filter(({ name }) => !names.includes(name))
          .map(({ name, title }) => (
            <button
              key={name}
              type="button"
              disabled={names.length >= MOST_COLUMNS}
              onClick={() => setNames([...names, name])}
            >
              + <Hostile text={title} />
            </button>
          ))}
      </div>
    </Dialog>
  );
}
