/**
 * Sets or removes one property of a request in its row, in the columns of filters, and in the property index together, and
 * notes the change in the change feed.
 */
import type { PropertyChange } from '#core/contracts/changes.ts';
import { AssayError } from '#core/contracts/errors.ts';
import { hashProperty } from '#core/contracts/properties.ts';
import { MAX_PROPERTIES } from '#core/contracts/query.ts';
import { foldName, storableText } from '#core/contracts/storable-text.ts';
import { Parameters, type Statement } from '#core/filter/mod.ts';
import { noteChange } from '#platform/changes/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import { mergeProperties } from '#platform/records/mod.ts';
import { findKey, keyCondition, type RequestKey } from './find-keys.ts';
import { runStatement } from './statement.ts';

type Properties = Record<string, string>;
type PropertyRow = RequestKey & {
  request_properties: string | null;
  properties_added: string | null;
  properties_folded: string;
};

/** Selects the request's row and locks it, so that two writers change its properties one after the other. */
function lockStatement(organizationId: string, key: RequestKey): Statement {
  const parameters = new Parameters();
  const text = `
    select created_at, request_id, request_properties::text, properties_added::text, properties_folded::text
    from assay.requests
    where ${keyCondition(parameters, organizationId, key)}
    for update`;
  return { text, values: parameters.values };
}

async function lockRow(
  tx: TransactionSql,
  organizationId: string,
  requestId: string,
): Promise<PropertyRow | undefined> {
  const key = await findKey(tx, organizationId, requestId);
  if (key === null) return undefined;
  const [row] = await runStatement<PropertyRow>(tx, lockStatement(organizationId, key));
  return row;
}

function bindKey(parameters: Parameters, organizationId: string, key: RequestKey) {
  return {
    organization: parameters.bind(organizationId, 'uuid'),
    createdAt: parameters.bind(key.created_at.toISOString(), 'timestamptz'),
    requestId: parameters.bind(key.request_id, 'text'),
  };
}

function updateStatement(
  organizationId: string,
  key: RequestKey,
  properties: { added: Properties; folded: Properties },
): Statement {
  const parameters = new Parameters();
  const { organization, createdAt, requestId } = bindKey(parameters, organizationId, key);
  const text = `
    update assay.requests
    set properties_added = ${parameters.bind(JSON.stringify(properties.added), 'text')}::jsonb,
      properties_folded = ${parameters.bind(JSON.stringify(properties.folded), 'text')}::jsonb
    where organization_id = ${organization} and created_at = ${createdAt} and request_id = ${requestId}`;
  return { text, values: parameters.values };
}

function unindexStatement(organizationId: string, key: RequestKey, hash: bigint): Statement {
  const parameters = new Parameters();
  const { organization, createdAt, requestId } = bindKey(parameters, organizationId, key);
  const text = `
    delete from assay.request_properties
    where organization_id = ${organization} and pair_hash = ${parameters.bind(hash.toString(), 'int8')}
      and created_at = ${createdAt} and request_id = ${requestId}`;
  return { text, values: parameters.values };
}

function indexStatement(organizationId: string, key: RequestKey, hash: bigint): Statement {
  const parameters = new Parameters();
  const { organization, createdAt, requestId } = bindKey(parameters, organizationId, key);
  const text = `
    insert into assay.request_properties (organization_id, pair_hash, created_at, request_id)
    values (${organization}, ${parameters.bind(hash.toString(), 'int8')}, ${createdAt}, ${requestId})
    on conflict do nothing`;
  return { text, values: parameters.values };
}

/** Returns a copy of `properties` with one more, without a prototype. */
function withProperty(properties: Properties, name: string, value: string): Properties {
  const addition: Properties = Object.create(null);
  addition[name] = value;
  return mergeProperties(properties, addition);
}

/**
 * Sets a property, in place of one that is equal ignoring case. False when the organization has no such request.
 * @throws AssayError invalid_body when the request would have too many
 */
export async function setProperty(
  tx: TransactionSql,
  organizationId: string,
  requestId: string,
  property: { key: string; value: string },
): Promise<boolean> {
  const row = await lockRow(tx, organizationId, requestId);
  if (row === undefined) return false;
  const name = storableText(property.key);
  const value = storableText(property.value);
  const folded = JSON.parse(row.properties_folded) as Properties;
  const foldedName = foldName(name);
  const before = Object.hasOwn(folded, foldedName) ? folded[foldedName] : undefined;
  if (before === undefined && Object.keys(folded).length >= MAX_PROPERTIES) {
    throw new AssayError(
      'invalid_body',
      `A request can have at most ${MAX_PROPERTIES} properties, and this one has them`,
    );
  }
  const properties = {
    added: withProperty(JSON.parse(row.properties_added ?? '{}') as Properties, name, value),
    folded: withProperty(folded, foldedName, value),
  };
  if (before !== undefined && before !== value) {
    await runStatement(tx, unindexStatement(organizationId, row, hashProperty(foldedName, before)));
  }
  await runStatement(tx, indexStatement(organizationId, row, hashProperty(foldedName, value)));
  await runStatement(tx, updateStatement(organizationId, row, properties));
  await note(tx, organizationId, row, { key: name, value });
  return true;
}

/** Returns a copy of `properties` without the one of this folded name, without a prototype; null when none is left. */
function withoutProperty(properties: string | null, foldedName: string): Properties | null {
  const kept: Properties = Object.create(null);
  for (const [name, value] of Object.entries(JSON.parse(properties ?? '{}') as Properties)) {
    if (foldName(name) !== foldedName) kept[name] = value;
  }
  return Object.keys(kept).length === 0 ? null : kept;
}

function removeStatement(organizationId: string, row: PropertyRow, foldedName: string): Statement {
  const parameters = new Parameters();
  const { organization, createdAt, requestId } = bindKey(parameters, organizationId, row);
  const without = (properties: string | null, none: string | null) => {
    const kept = withoutProperty(properties, foldedName);
    return `${parameters.bind(kept === null ? none : JSON.stringify(kept), 'text')}::jsonb`;
  };
  const text = `
    update assay.requests
    set request_properties = ${without(row.request_properties, null)},
      properties_added = ${without(row.properties_added, null)},
      properties_folded = ${without(row.properties_folded, '{}')}
    where organization_id = ${organization} and created_at = ${createdAt} and request_id = ${requestId}`;
  return { text, values: parameters.values };
}

/**
 * Removes a property, whether it was sent with the request or set later; its name is compared ignoring case. False when the
 * organization has no such request, true also when the request has no such property.
 */
export async function removeProperty(
  tx: TransactionSql,
  organizationId: string,
  requestId: string,
  key: string,
): Promise<boolean> {
  const row = await lockRow(tx, organizationId, requestId);
  if (row === undefined) return false;
  const foldedName = foldName(key);
  const folded = JSON.parse(row.properties_folded) as Properties;
  if (!Object.hasOwn(folded, foldedName)) return true;
  await runStatement(
    tx,
    unindexStatement(organizationId, row, hashProperty(foldedName, folded[foldedName]!)),
  );
  await runStatement(tx, removeStatement(organizationId, row, foldedName));
  await note(tx, organizationId, row, { key: storableText(key), value: null });
  return true;
}

async function note(
  tx: TransactionSql,
  organizationId: string,
  { created_at, request_id }: RequestKey,
  change: PropertyChange,
): Promise<void> {
  const keys = [{ createdAt: created_at, requestId: request_id }];
  await noteChange(tx, { organizationId, kind: 'property', keys, details: [change] });
}
