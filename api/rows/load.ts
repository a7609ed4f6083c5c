/** Rows by key, with the requested columns only. */
import { Parameters, type Statement } from '#core/filter/mod.ts';
import { bindKeys } from '#platform/records/mod.ts';
import type { RequestKey } from '../requests/mod.ts';
import type { Cell, Column } from './columns.ts';

/** A row of `rowsStatement`: the id and the columns, in their order. */
export type RowCells = { request_id: string; [column: `c${number}`]: Cell };

/**
 * Selects the rows with these keys, in their order. Laterals are fenced by `offset 0`, so that each key is looked up by an
 * index, whatever Postgres estimates for the rest.
 */
export function rowsStatement(
  organizationId: string,
  keys: readonly RequestKey[],
  columns: readonly Column[],
): Statement {
  const parameters = new Parameters();
  const { table, matches, organization } = bindKeys(organizationId, keys, parameters);
  const selected = columns.map(({ select }, index) => `, ${select(parameters)} as c${index}`);
  const joins = {
    scores: `left join lateral (
      select json_object_agg(s.key, s.value order by s.key) as scores
      from assay.request_scores s where ${matches('s')}
    ) s on true`,
    keys: `left join lateral (
      select a.prefix from assay.api_keys a
      where a.key_id = r.api_key_id and a.organization_id = ${organization}
    ) a on true`,
    evaluations: `left join lateral (
      select count(*)::int4 as pending from assay.evaluations e
      where e.organization_id = ${organization} and e.request_id = k.request_id and e.created_at = k.created_at
        and e.state in ('pending', 'running')
    ) e on true`,
  };
  const needed = new Set(columns.flatMap(({ from }) => from ?? []));
  const text = `
    select r.request_id${selected.join('')}
    from ${table}
    cross join lateral (select r.* from assay.requests r where ${matches('r')} offset 0) r
    ${[...needed].map((name) => joins[name]).join(' ')}
    order by k.position`;
  return { text, values: parameters.values };
}

/** Writes a row as a JSON object. */
export function rowText(columns: readonly Column[], row: RowCells): string {
  let text = `{"request_id":${JSON.stringify(row.request_id)}`;
  columns.forEach(({ name, write }, index) => {
    text += `,${JSON.stringify(name)}:${write(row[`c${index}`] ?? null)}`;
  });
  return `${text}}`;
}
