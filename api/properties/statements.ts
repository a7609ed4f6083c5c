/**
 * The statements of properties. The index of properties holds hashes, which name nothing, so that values are read out of the
 * newest records, a bounded part of the table, and names out of those and of roll-ups.
 */
import { containing, Parameters, type Statement } from '#core/filter/mod.ts';

/** Records that are read: enough to see what is in use, in a fraction of a second. */
const NEWEST_RECORDS = 100_000;
/** Records whose names are counted, which takes some 20 ms; roll-ups know the names of all others. */
const NEWEST_NAMED_RECORDS = 5_000;
/** Requests of one millisecond in which the spelling of a name is looked for. */
const MOST_AT_ONCE = 20;
/** The most names of properties. */
export const MAX_NAMES = 1_000;
/** Names that are read of the roll-ups of days, in the order of the alphabet: the most recently used of them are listed. */
const MOST_READ_NAMES = 10_000;
/** The most values of a property. */
const MAX_VALUES = 25;

/** A name or a value, with the number of records that have it. */
export type CountedText = { text: string; count: number };

/** Writes the newest records of an organization, as a table `r` with these columns. */
function newest(columns: string, organization: string, records: number): string {
  return `(
    select ${columns} from assay.requests r
    where r.organization_id = ${organization} and r.source <> 'evaluator'
    order by r.created_at desc, r.request_id desc limit ${records}
  ) r`;
}

/** Selects the names of properties as they are spelled in the newest records, the most frequent first. */
export function propertyNamesStatement(organizationId: string): Statement {
  const parameters = new Parameters();
  const organization = parameters.bind(organizationId, 'uuid');
  const text = `
    select n.name as text, count(*)::float8 as count
    from ${newest('r.request_properties, r.properties_added', organization, NEWEST_NAMED_RECORDS)}
    cross join lateral (
      select jsonb_object_keys(r.request_properties) as name
      union select jsonb_object_keys(r.properties_added)
    ) n
    group by n.name order by 2 desc, n.name collate "C" limit ${MAX_NAMES}`;
  return { text, values: parameters.values };
}

/** A name in lower case that some roll-up has, with the names that requests of its newest moment have. */
export type OlderName = { folded: string; spellings: string[] };

/**
 * Selects the names that roll-ups have, the most recently used first: of days, and of the half hours since yesterday, because a
 * day has roll-ups when it is over. Skips from one name to the next.
 */
export function olderNamesStatement(organizationId: string): Statement {
  const parameters = new Parameters();
  const organization = parameters.bind(organizationId, 'uuid');
  const ofDays = (further: string) => `
    select cell.name, cell.last_at from assay.rollup_values cell
     where cell.organization_id = ${organization} and cell.grain_seconds = 86400 and cell.dimension = 'property_sum'
       and cell.source <> 'evaluator' ${further}
     order by cell.name, cell.begins_at desc limit 1`;
  const ofHalfHours = (further: string) => `
    select cell.name, cell.last_at from assay.rollup_values cell
     where cell.organization_id = ${organization} and cell.grain_seconds = 1800 and cell.begins_at = bucket.begins_at
       and cell.dimension = 'property' and cell.source <> 'evaluator' ${further}
     order by cell.name limit 1`;
  const namesOf = (first: (further: string) => string) => `
      with recursive known as (
        select found.* from (${first('')}) found
         union all
        select found.* from known cross join lateral (${first('and cell.name > known.name')}) found)
      select * from known limit ${MOST_READ_NAMES}`;
  const text = `
    with used as (
      select name, max(last_at) as last_at from (
        (${namesOf(ofDays)})
        union all
        select names.*
          from generate_series(date_trunc('day', now(), 'UTC') - interval '1 day', now(), interval '30 minutes') as bucket (begins_at)
         cross join lateral (${namesOf(ofHalfHours)}) names) names
       group by name order by 2 desc, 1 limit ${MAX_NAMES})
    select used.name as folded, coalesce((
             select array_to_json(array_agg(distinct spelled.name))
               from (select r.request_properties, r.properties_added from assay.requests r
                      where r.organization_id = ${organization} and r.created_at = used.last_at limit ${MOST_AT_ONCE}) r
              cross join lateral (
                select jsonb_object_keys(r.request_properties) as name union select jsonb_object_keys(r.properties_added)) spelled
             ), '[]') as spellings
      from used order by used.last_at desc, used.name`;
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
  const pattern = parameters.bind(containing(searchTerm), 'text');
  const text = `
    select r.value as text, count(*)::float8 as count
    from ${newest(value, organization, NEWEST_RECORDS)}
    where r.value collate "default" ilike ${pattern}
    group by r.value order by 2 desc, r.value collate "C" limit ${MAX_VALUES}`;
  return { text, values: parameters.values };
}
