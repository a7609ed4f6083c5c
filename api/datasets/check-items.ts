/** Holds the items of a call against the schemas of their dataset. */
import { AssayError } from '#core/contracts/errors.ts';
import { invalidItem, type ReadItem } from '#core/datasets/mod.ts';
import { findBreach, type JsonSchema, readJsonSchema, type SharedSteps } from '#core/json-schema/mod.ts';
import { inTurns } from '#platform/process/turns.ts';
import type { LockedDataset } from './dataset-store.ts';

/** Some seconds: of 100,000 items, the most of a call, each may take 200. */
const MAX_STEPS_OF_CALL = 20_000_000;

type Schemas = { request: JsonSchema; expected: JsonSchema | null };
type Breach = { path: string; rule: string };

/** Returns the schemas of a dataset; null: it has none. */
function schemasOf({ request_schema, expected_schema }: LockedDataset): Schemas | null {
  if (request_schema === null && expected_schema === null) return null;
  const read = (text: string) => readJsonSchema(JSON.parse(text));
  return {
    request: request_schema === null ? true : read(request_schema),
    expected: expected_schema === null ? null : read(expected_schema),
  };
}

function breachOf({ values }: ReadItem, { request, expected }: Schemas, steps: SharedSteps): Breach | null {
  const breach = findBreach(request, values.request, 'request', steps);
  if (breach !== null || expected === null) return breach;
  if (values.expected === undefined) return { path: 'expected', rule: 'is required by the schema' };
  return findBreach(expected, values.expected, 'expected', steps);
}

function tooManySteps(): AssayError {
  return new AssayError(
    'invalid_body',
    'The items take too long together to hold against the schemas of the dataset: send fewer at a time, or make the schemas simpler',
  );
}

/**
 * Yields to the event loop between items.
 * @throws AssayError invalid_body when the items take too long together
 */
async function eachBreach(
  dataset: LockedDataset,
  items: readonly ReadItem[],
  onBreach: (item: ReadItem, breach: Breach) => void,
): Promise<void> {
  const schemas = schemasOf(dataset);
  if (schemas === null) return;
  const steps = { left: MAX_STEPS_OF_CALL };
  let next = 0;
  await inTurns(() => {
    const item = items[next];
    if (item === undefined) return true;
    next += 1;
    const breach = breachOf(item, schemas, steps);
    if (steps.left < 0) throw tooManySteps();
    if (breach !== null) onBreach(item, breach);
    return false;
  });
}

/** @throws AssayError invalid_body for the first item that does not fit */
export async function checkItems(dataset: LockedDataset, items: readonly ReadItem[]): Promise<void> {
  await eachBreach(dataset, items, (item, { path, rule }) => {
    throw invalidItem(item.place, path, rule);
  });
}

/** Returns the items that do not fit. */
export async function unfitItems(
  dataset: LockedDataset,
  items: readonly ReadItem[],
): Promise<ReadonlySet<ReadItem>> {
  const unfit = new Set<ReadItem>();
  await eachBreach(dataset, items, (item) => unfit.add(item));
  return unfit;
}
