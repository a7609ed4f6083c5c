/** The groups of an alert in its tables. */
import type { AlertJson } from '#core/contracts/alert.ts';
import { type KeyNames, useKeyNames } from '../../client/key-names.ts';
import type { Column } from '../../parts/table/table.tsx';
import { Hostile } from '../../parts/text/hostile.tsx';
import { type Group, groupText } from './words.ts';

export const SEVERITY_CHIPS = { critical: 'chip chip-bad', warning: 'chip chip-warn' };

/** Returns the names of the keys that groups of an alert on keys are. */
export function useGroupNames({ query }: AlertJson, rows: readonly { group: Group }[]): KeyNames {
  const isOfKeys = query.groupBy?.[0] === 'api_key';
  return useKeyNames(isOfKeys ? rows.flatMap(({ group }) => Object.values(group ?? {})) : []);
}

/** Returns the column with the groups; none for an alert on all requests together. */
export function groupColumn<Row extends { group: Group }>(
  { query }: AlertJson,
  names: KeyNames,
): Column<Row>[] {
  if ((query.groupBy ?? []).length === 0) return [];
  return [
    {
      name: 'group',
      title: 'Group',
      cell: ({ group }) => (
        <span class="break">
          <Hostile text={groupText(group, names)} />
        </span>
      ),
    },
  ];
}
