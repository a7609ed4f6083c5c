/** Organizations, as operators manage them. */
import { EVALUATIONS_CHANNEL } from '#core/contracts/channels.ts';
import { AssayError } from '#core/contracts/errors.ts';
import type { Sql, TransactionSql } from '../postgres/mod.ts';
import type { Tier } from './api-key.ts';

export type Organization = {
  organizationId: string;
  name: string;
  tier: Tier;
  /** Logging limit of this organization; null: its tier's. */
  logsPer5s: number | null;
  /** Daily budget (UTC) of its judges in nano-dollars; null: no limit. */
  evaluationBudgetNano: number | null;
  createdAt: Date;
};

type AnySql = Sql | TransactionSql;

const LONGEST_NAME = 100;

function checkName(name: string): void {
  if (name.length >= 1 && name.length <= LONGEST_NAME) return;
  throw new AssayError('invalid_body', `An organization's name must have 1 to ${LONGEST_NAME} characters`);
}

const organizationColumns = (sql: AnySql) => sql`
  organization_id as "organizationId", name, tier, logs_per_5s as "logsPer5s",
  evaluation_budget_nano::float8 as "evaluationBudgetNano", created_at as "createdAt"`;

/**
 * Creates an organization.
 * @throws AssayError conflict when the name is taken
 */
export async function createOrganization(
  sql: AnySql,
  organization: { name: string; tier?: Tier; logsPer5s?: number | null },
): Promise<Organization> {
  checkName(organization.name);
  const [row] = await sql<Organization[]>`
    insert into assay.organizations (name, tier, logs_per_5s)
    values (${organization.name}, ${organization.tier ?? 'free'}, ${organization.logsPer5s ?? null})
    on conflict (name) do nothing
    returning ${organizationColumns(sql)}`;
  if (row === undefined) {
    throw new AssayError('conflict', `There is an organization called "${organization.name}" already`);
  }
  return row;
}

/** Returns the organization with this name, or null. */
export async function findOrganization(sql: AnySql, name: string): Promise<Organization | null> {
  const [row] = await sql<Organization[]>`
    select ${organizationColumns(sql)} from assay.organizations where name = ${name}`;
  return row ?? null;
}

/** Lists all organizations, by name. */
export function listOrganizations(sql: AnySql): Promise<Organization[]> {
  return sql<Organization[]>`select ${organizationColumns(sql)} from assay.organizations order by name`;
}

/**
 * Finds an organization that has to be there.
 * @throws AssayError not_found
 */
export async function requireOrganization(sql: AnySql, name: string): Promise<Organization> {
  const found = await findOrganization(sql, name);
  if (found === null) throw unknownOrganization(name);
  return found;
}

function unknownOrganization(name: string): AssayError {
  return new AssayError('not_found', `There is no organization called "${name}"`);
}

/**
 * Changes an organization's tier and its own logging limit (null: the tier's). Gateways apply it within a second.
 * @throws AssayError not_found
 */
export async function setTier(
  sql: AnySql,
  name: string,
  change: { tier: Tier; logsPer5s: number | null },
): Promise<Organization> {
  const [row] = await sql<Organization[]>`
    update assay.organizations set tier = ${change.tier}, logs_per_5s = ${change.logsPer5s}
    where name = ${name}
    returning ${organizationColumns(sql)}`;
  if (row === undefined) throw unknownOrganization(name);
  return row;
}

/**
 * Changes the daily budget (UTC) of an organization's judges, in nano-dollars; null: no limit. Evaluations that are under way
 * are finished, and those that wait for the budget of the next day become due.
 * @throws AssayError not_found
 */
export async function setEvaluationBudget(
  sql: AnySql,
  name: string,
  budgetNano: number | null,
): Promise<Organization> {
  const [row] = await sql<Organization[]>`
    update assay.organizations set evaluation_budget_nano = ${budgetNano}
    where name = ${name}
    returning ${organizationColumns(sql)}`;
  if (row === undefined) throw unknownOrganization(name);
  await sql`
    update assay.evaluations set due_at = now()
     where organization_id = ${row.organizationId} and state = 'pending' and error_code = 'budget_exhausted'
       and due_at > now()`;
  await sql`select pg_notify(${EVALUATIONS_CHANNEL}, '')`;
  return row;
}
