/** The names and values of properties, and the keys of scores, that requests carry. */
import type { PropertySearchBody, ScoreKey } from '#core/contracts/names.ts';
import { foldName, storableText } from '#core/contracts/storable-text.ts';
import type { Statement } from '#core/filter/mod.ts';
import { inOrganization, type Sql, type TransactionSql } from '#platform/postgres/mod.ts';
import { runStatement } from '../requests/mod.ts';
import { findScoreKeys } from './score-keys.ts';
import {
  type CountedText,
  MAX_NAMES,
  type OlderName,
  olderNamesStatement,
  propertyNamesStatement,
  propertyValuesStatement,
} from './statements.ts';

/** The work behind the routes of `/v1/property` and `/v1/score`, for one organization at a time. */
export type PropertyService = {
  /**
   * The names of properties, those of the newest records first, the most frequent of these before others; of spellings that
   * ignore case the usual one.
   */
  names(organizationId: string): Promise<string[]>;
  /** The values of a property that contain a text, of the newest records, the most frequent first. */
  searchValues(organizationId: string, name: string, body: PropertySearchBody): Promise<string[]>;
  scoreKeys(organizationId: string): Promise<ScoreKey[]>;
};

/** @param sql a pool under the role `assay_api` */
export function createPropertyService({ sql }: { sql: Sql }): PropertyService {
  const run = <Row extends object>(organizationId: string, statement: Statement) =>
    inOrganization(sql, organizationId, (tx) => runStatement<Row>(tx, statement));

  return {
    async names(organizationId) {
      const rows = await run<CountedText>(organizationId, propertyNamesStatement(organizationId));
      const names = new Map<string, CountedText>();
      for (const { text, count } of rows) {
        const usual = names.get(foldName(text));
        if (usual === undefined) names.set(foldName(text), { text, count });
        else usual.count += count;
      }
      const newest = [...names.values()]
        .sort((one, other) => other.count - one.count)
        .map(({ text }) => text);
      const older = await run<OlderName>(organizationId, olderNamesStatement(organizationId));
      const others = older
        .filter(({ folded }) => !names.has(folded))
        .map(({ folded, spellings }) => spellings.find((one) => foldName(one) === folded) ?? folded);
      return [...newest, ...others].slice(0, MAX_NAMES);
    },

    async searchValues(organizationId, name, { searchTerm }) {
      const wanted = { foldedName: foldName(name), searchTerm: storableText(searchTerm) };
      const rows = await run<CountedText>(organizationId, propertyValuesStatement(organizationId, wanted));
      return rows.map(({ text }) => text);
    },

    async scoreKeys(organizationId) {
      const find = (tx: TransactionSql) => findScoreKeys(tx, organizationId);
      return inOrganization(sql, organizationId, find, { isSnapshot: true });
    },
  };
}
