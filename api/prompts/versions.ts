/** Adds, finds and deletes versions of prompts. */
import { randomUUID } from 'node:crypto';
import type { Static } from '@sinclair/typebox';
import { quoteValue } from '#core/contracts/check.ts';
import { AssayError } from '#core/contracts/errors.ts';
import type {
  NewVersionJson,
  PromptUpdateBody,
  PromptVersionJson,
  VersionsQueryBody,
  VersionTotalsJson,
} from '#core/contracts/prompt.ts';
import { storableText } from '#core/contracts/storable-text.ts';
import { inOrganization, type TransactionSql } from '#platform/postgres/mod.ts';
import { unknown } from '../ids.ts';
import {
  type Author,
  type Context,
  readPromptId,
  readVersionId,
  requirePrompt,
  type VersionIds,
  withVersion,
} from './context.ts';
import { nameVersion } from './environments.ts';
import { readPromptBody, type Sent } from './read-body.ts';
import { numberOf, type VersionTexts, versionJson, versionTexts } from './version-json.ts';
import {
  countVersions,
  deleteVersion,
  findVersion,
  insertVersion,
  listVersions,
  nextMinor,
  takeMajor,
  type VersionRow,
} from './version-store.ts';

/** The work on versions, for one organization at a time. Whatever is unknown or deleted is a not_found. */
export type Versions = {
  /** @throws AssayError invalid_body, conflict when the prompt has as many environments as it may have */
  add(author: Author, sent: Sent<PromptUpdateBody>): Promise<Static<typeof NewVersionJson>>;
  get(organizationId: string, versionId: string): Promise<VersionTexts>;
  query(organizationId: string, body: VersionsQueryBody): Promise<PromptVersionJson[]>;
  totals(organizationId: string, promptId: string): Promise<Static<typeof VersionTotalsJson>>;
  /** @throws AssayError conflict when an environment names the version, and when it is the prompt's last */
  remove(organizationId: string, ids: VersionIds): Promise<null>;
};

const DEFAULT_LIMIT = 100;

/** @throws AssayError conflict */
async function refuseNeeded(tx: TransactionSql, organizationId: string, row: VersionRow): Promise<void> {
  const { environments, prompt_id } = row;
  if (environments.length > 0) {
    const what = environments.length === 1 ? 'the environment' : 'the environments';
    throw new AssayError(
      'conflict',
      `Version ${numberOf(row)} cannot be deleted while it is that of ${what} ${environments.map(quoteValue).join(', ')}: ` +
        'set another version there, or remove it from there',
    );
  }
  const { count } = await countVersions(tx, organizationId, prompt_id);
  if (count > 1) return;
  throw new AssayError(
    'conflict',
    `Version ${numberOf(row)} is the last one and cannot be deleted: delete the prompt ${prompt_id}`,
  );
}

export function createVersions({ sql, clock }: Context): Versions {
  return {
    async add({ organizationId, keyId }, sent) {
      const { newMajorVersion = false, environment, commitMessage = '' } = sent.body;
      const stored = readPromptBody(sent);
      const versionId = randomUUID();
      await withVersion(sql, organizationId, sent.body, async (tx, base) => {
        const promptId = base.prompt_id;
        const number = newMajorVersion
          ? await takeMajor(tx, organizationId, promptId)
          : await nextMinor(tx, organizationId, promptId, base.major);
        const own = { promptId, versionId, at: new Date(clock.now()) };
        await insertVersion(tx, {
          ...own,
          ...number,
          ...stored,
          organizationId,
          commitMessage: storableText(commitMessage),
          keyId,
        });
        if (environment === undefined) return;
        await nameVersion(tx, organizationId, { ...own, environment: storableText(environment) });
      });
      return { id: versionId };
    },

    async get(organizationId, given) {
      const versionId = readVersionId(given);
      const row = await inOrganization(sql, organizationId, (tx) =>
        findVersion(tx, organizationId, versionId),
      );
      if (row === undefined) throw unknown('prompt version', given);
      return versionTexts(row);
    },

    async query(organizationId, body) {
      const promptId = readPromptId(body.promptId);
      const { majorVersion: major = null, offset = 0, limit = DEFAULT_LIMIT } = body;
      const rows = await inOrganization(sql, organizationId, async (tx) => {
        await requirePrompt(tx, organizationId, promptId);
        return listVersions(tx, organizationId, { promptId, major, offset, limit });
      });
      return rows.map(versionJson);
    },

    async totals(organizationId, given) {
      const promptId = readPromptId(given);
      const { count, highest } = await inOrganization(sql, organizationId, async (tx) => {
        await requirePrompt(tx, organizationId, promptId);
        return countVersions(tx, organizationId, promptId);
      });
      return { totalVersions: count, majorVersions: highest };
    },

    async remove(organizationId, ids) {
      await withVersion(sql, organizationId, ids, async (tx, row) => {
        await refuseNeeded(tx, organizationId, row);
        await deleteVersion(tx, organizationId, row.version_id, new Date(clock.now()));
      });
      return null;
    },
  };
}
