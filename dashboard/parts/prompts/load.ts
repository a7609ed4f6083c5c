/** Stored prompts, as several pages load them. */
import type {
  PromptInputsJson,
  PromptJson,
  PromptQueryBody,
  PromptVersionJson,
} from '#core/contracts/prompt.ts';
import { call } from '../../client/call.ts';
import { loadPages } from '../../client/load-pages.ts';
import { type Resource, useResource } from '../../client/resource.ts';
import { type Choices, MOST_CHOICES } from '../form/choices.ts';
import { type Pages, usePages } from '../table/use-pages.ts';

const ROOT = '/v1/prompt-2025';
/** Versions of one answer: the most that the API returns. */
const MOST_LISTED = 100;

/** A version with its body. */
export type WholeVersion = PromptVersionJson & { prompt_body: Record<string, unknown> };

/** @example versionName({ major_version: 1, minor_version: 2 }) // '1.2' */
export function versionName({
  major_version: major,
  minor_version: minor,
}: Pick<PromptVersionJson, 'major_version' | 'minor_version'>): string {
  return `${major}.${minor}`;
}

export const PROMPTS: Choices<PromptJson> = {
  key: 'prompts',
  find: (search, signal) => {
    const body: PromptQueryBody = { search, pageSize: MOST_CHOICES };
    return call<PromptJson[]>('POST', `${ROOT}/query`, body, signal);
  },
  load: (id, signal) => call<PromptJson>('GET', `${ROOT}/id/${encodeURIComponent(id)}`, undefined, signal),
};

function loadVersionsFrom(
  promptId: string,
  offset: number,
  signal?: AbortSignal,
): Promise<PromptVersionJson[]> {
  const body = { promptId, offset, limit: MOST_LISTED };
  return call<PromptVersionJson[]>('POST', `${ROOT}/query/versions`, body, signal);
}

/** Loads the versions of a prompt to choose of, the newest first. */
export function loadVersions(promptId: string, signal?: AbortSignal): Promise<PromptVersionJson[]> {
  return loadPages(MOST_LISTED, (offset) => loadVersionsFrom(promptId, offset, signal));
}

/** Loads the versions of a prompt page by page, the newest first. */
export function useVersionPages(promptId: string): Pages<PromptVersionJson> {
  return usePages(`prompt version pages ${promptId}`, async (after, signal) => {
    const offset = Number(after ?? 0);
    const rows = await loadVersionsFrom(promptId, offset, signal);
    return { rows, next: rows.length < MOST_LISTED ? null : String(offset + rows.length) };
  });
}

/** Loads the versions of a prompt to choose of; null: of none. */
export function useVersions(promptId: string | null): Resource<PromptVersionJson[]> {
  return useResource(promptId === null ? null : `prompt versions ${promptId}`, (signal) =>
    loadVersions(promptId!, signal),
  );
}

/** Loads a version with its body. */
export function loadVersion(promptVersionId: string, signal?: AbortSignal): Promise<WholeVersion> {
  return call<WholeVersion>('POST', '/v2/prompt-2025/query/version', { promptVersionId }, signal);
}

/** Loads the inputs of a request that used a version. */
export async function loadInputs(
  promptId: string,
  versionId: string,
  requestId: string,
  signal?: AbortSignal,
): Promise<Record<string, unknown>> {
  const [prompt, version, request] = [promptId, versionId, requestId].map(encodeURIComponent);
  const path = `${ROOT}/id/${prompt}/${version}/inputs?requestId=${request}`;
  return (await call<PromptInputsJson>('GET', path, undefined, signal)).inputs;
}
