/** Creates, finds, names, tags and deletes prompts. */
import { randomUUID } from 'node:crypto';
import type { Static } from '@sinclair/typebox';
import { AssayError } from '#core/contracts/errors.ts';
import {
  MAX_PROMPTS,
  type NewPromptBody,
  type NewPromptJson,
  PRODUCTION,
  type PromptJson,
  type PromptQueryBody,
} from '#core/contracts/prompt.ts';
import { storableText } from '#core/contracts/storable-text.ts';
import { inOrganization, type TransactionSql } from '#platform/postgres/mod.ts';
import { unknown } from '../ids.ts';
import { refuseTakenName } from '../refuse-taken-name.ts';
import { type Author, type Context, requireLocked } from './context.ts';
import { upsertEnvironment } from './environment-store.ts';
import {
  countPrompts,
  deletePrompt,
  findNamed,
  findPrompt,
  insertPrompt,
  listPrompts,
  listTags,
  lockNames,
  type PromptRow,
  renamePrompt,
  updateTags,
} from './prompt-store.ts';
import { readPromptBody, type Sent } from './read-body.ts';
import { insertVersion } from './version-store.ts';

/** The work on prompts, for one organization at a time. An unknown or deleted prompt is a not_found. */
export type Prompts = {
  /** @throws AssayError invalid_body, conflict when the name is taken */
  create(author: Author, sent: Sent<NewPromptBody>): Promise<Static<typeof NewPromptJson>>;
  get(organizationId: string, promptId: string): Promise<PromptJson>;
  /** @throws AssayError conflict when the name is taken */
  rename(organizationId: string, promptId: string, name: string): Promise<null>;
  /** Resolves with the tags as they are stored. */
  setTags(organizationId: string, promptId: string, tags: readonly string[]): Promise<string[]>;
  query(organizationId: string, body: PromptQueryBody): Promise<PromptJson[]>;
  count(organizationId: string): Promise<number>;
  /** Lists the tags of all prompts, each once. */
  tags(organizationId: string): Promise<string[]>;
  remove(organizationId: string, promptId: string): Promise<null>;
};

const DEFAULT_PAGE_SIZE = 10;

const readTag = (tag: string) => storableText(tag).trim();

/** Returns tags as they are stored: without spaces around them, empty ones and repetitions. */
function readTags(tags: readonly string[]): string[] {
  return [...new Set(tags.map(readTag).filter((tag) => tag !== ''))];
}

function promptJson({ prompt_id, name, tags, created_at }: PromptRow): PromptJson {
  return { id: prompt_id, name, tags, created_at: created_at.toISOString() };
}

export function createPrompts({ sql, clock }: Context): Prompts {
  const read = <T>(organizationId: string, work: (tx: TransactionSql) => Promise<T>) =>
    inOrganization(sql, organizationId, work);

  return {
    async create({ organizationId, keyId }, sent) {
      const name = storableText(sent.body.name);
      const tags = readTags(sent.body.tags ?? []);
      const stored = readPromptBody(sent);
      const environments = new Set([PRODUCTION, storableText(sent.body.environment ?? PRODUCTION)]);
      const [promptId, versionId] = [randomUUID(), randomUUID()];
      await inOrganization(sql, organizationId, async (tx) => {
        await lockNames(tx, organizationId);
        refuseTakenName('prompt', name, await findNamed(tx, organizationId, name), null);
        if ((await countPrompts(tx, organizationId)) >= MAX_PROMPTS) {
          throw new AssayError('conflict', `An organization can have at most ${MAX_PROMPTS} prompts`);
        }
        const at = new Date(clock.now());
        const own = { organizationId, promptId, at };
        await insertPrompt(tx, { ...own, name, tags });
        await insertVersion(tx, {
          ...own,
          ...stored,
          versionId,
          major: 1,
          minor: 0,
          commitMessage: 'First version.',
          keyId,
        });
        for (const environment of environments) {
          await upsertEnvironment(tx, organizationId, { promptId, versionId, environment, at });
        }
      });
      return { id: promptId, versionId };
    },

    async get(organizationId, promptId) {
      const row = await read(organizationId, (tx) => findPrompt(tx, organizationId, promptId));
      if (row === undefined) throw unknown('prompt', promptId);
      return promptJson(row);
    },

    async rename(organizationId, promptId, given) {
      const name = storableText(given);
      await inOrganization(sql, organizationId, async (tx) => {
        await lockNames(tx, organizationId);
        await requireLocked(tx, organizationId, promptId);
        refuseTakenName('prompt', name, await findNamed(tx, organizationId, name), promptId);
        await renamePrompt(tx, organizationId, promptId, name);
      });
      return null;
    },

    async setTags(organizationId, promptId, given) {
      const tags = readTags(given);
      const isThere = await inOrganization(sql, organizationId, (tx) =>
        updateTags(tx, organizationId, promptId, tags),
      );
      if (!isThere) throw unknown('prompt', promptId);
      return tags;
    },

    async query(organizationId, { search = '', tagsFilter = [], page = 0, pageSize = DEFAULT_PAGE_SIZE }) {
      const wanted = { search: storableText(search), tags: tagsFilter.map(readTag), page, pageSize };
      const rows = await read(organizationId, (tx) => listPrompts(tx, organizationId, wanted));
      return rows.map(promptJson);
    },

    count: (organizationId) => read(organizationId, (tx) => countPrompts(tx, organizationId)),
    tags: (organizationId) => read(organizationId, (tx) => listTags(tx, organizationId)),

    async remove(organizationId, promptId) {
      await inOrganization(sql, organizationId, async (tx) => {
        await requireLocked(tx, organizationId, promptId);
        await deletePrompt(tx, organizationId, promptId, new Date(clock.now()));
      });
      return null;
    },
  };
}
