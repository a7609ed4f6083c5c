/** The playground's address: the request that it replays, and each column's model and version of a prompt. Pure. */
import type { AddressChanges } from '../../state/address.ts';
import { type Draft, MOST_COLUMNS } from './draft.ts';

/**
 * A column as a link names it. `inputs`: the request whose inputs it gets; `used`: the version that this request was a call of,
 * when it is another one.
 */
export type LinkedColumn = {
  model?: string;
  prompt?: string;
  version?: string;
  inputs?: string;
  used?: string;
};
const MEMBERS = ['model', 'prompt', 'version', 'inputs', 'used'] as const;

/** Reads the columns of an address, in order. */
export function readColumns(query: Readonly<Record<string, string>>): LinkedColumn[] {
  const columns: LinkedColumn[] = [];
  for (let place = 1; place <= MOST_COLUMNS; place++) {
    const found = MEMBERS.flatMap((member) => {
      const value = query[`column.${place}.${member}`];
      return value === undefined || value === '' ? [] : [[member, value] as const];
    });
    if (found.length > 0) columns.push(Object.fromEntries(found));
  }
  return columns;
}

/** Returns the query of a draft's address. Inputs are texts, which stay in the page. */
export function addressOf({ from, columns }: Draft): AddressChanges {
  const named = columns.flatMap(({ model, prompt }, index) => [
    [`column.${index + 1}.model`, model],
    [`column.${index + 1}.prompt`, prompt?.promptId ?? null],
    [`column.${index + 1}.version`, prompt?.versionId ?? null],
  ]);
  return { from, ...Object.fromEntries(named) };
}
