/**
 * The statements of properties and score keys. The index of properties holds hashes, which name nothing, so that names and
 * values are read out of the newest records: a bounded part of the table.
 */
import { Parameters, type Statement } from '#core/filter/mod.ts';

/** Records that are read: enough to see what is in use, in a fraction of a second. */
const NEWEST_RECORDS = 100_000;
/** The most names of properties, and keys of scores. */
const MAX_NAMES = 1_000;
/** The most values of a property. */
const MAX_VALUES = 25;

/** A name or a value, with the number of records that have it. */
export type CountedText = { text: string; count: number };

/** A row of `scoreKeysStatement`. */
export type ScoreKeyRow = { key: string; count: number; min: number; max: number };

/** Writes the newest records of an organization, as a table `r` with these columns. */
function newest(columns: string, organization: string): string {
  return `(
    select ${columns} from assay.requests r
    where r.organization_id = ${organization} and r.source <> 'evaluator'
    order by r.created_at desc, r.request_id desc limit ${NEWEST_RECORDS}
  ) r`;
}

/** Selects the names of properties as they are spelled, the most frequent first. */
export function propertyNamesStatement(organizationId: string): Statement {
  const parameters = new Parameters();
  const organization = parameters.bind(organizationId, 'uuid');
  const text = `
    select n.name as text, count(*)::float8 as count
    from ${newest('r.request_properties, r.properties_added', organization)}
    cross join lateral (
      select jsonb_object_keys(r.request_properties) as name
      union select jsonb_object_keys(r.properties_added)
    ) n
    group by n.name order by 2 desc, n.name collate "C" limit ${MAX_NAMES}`;
  return { text, values: parameters.values };
}

/** Selects the values of a property that contain a text, the most frequent first. */
export function propertyValuesStatement(
  organizationId: string,
  { foldedName, searchTerm }: { foldedName: string; searchTerm: string },
): Statement {
  const parameters = new Parameters();
  const organization = parameters.bind(organizationId, 'uuid');
  const value = `r.properties_folded ->> ${parameters.bind(foldedName, 'text')} as value`;
  const pattern = parameters.bind(`%${searchTerm.replace(/[\\%_]/g, '\\$&')}%`, 'text');
  const text = `
    select r.value as text, count(*)::float8 as count
    from ${newest(value, organization)}
    where r.value collate "default" ilike ${pattern}
    group by r.value order by 2 desc, r.value collate "C" limit ${MAX_VALUES}`;
  return { text, values: parameters.values };
}

/** Selects the keys of all scores, those with the most scores first. */
export function scoreKeysStatement(organizationId: string): Statement {
  const parameters = new Parameters();
  const text = `
    select s.key, count(*)::float8 as count, min(s.value) as min, max(s.value) as max
    from assay.request_scores s
    where s.organization_id = ${parameters.bind(organizationId, 'uuid')}
    group by s.key order by 2 desc, s.key limit ${MAX_NAMES}`;
  return { text, values: parameters.values };
}
