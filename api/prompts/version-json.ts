import type { PromptVersionJson } from '#core/contracts/prompt.ts';
import type { VersionNumber, VersionRow, WholeVersionRow } from './version-store.ts';

/** A version and its body, each as JSON text. */
export type VersionTexts = {
  /** The version without its body. */
  version: string;
  /** As it was sent: parsing would lose long numbers. */
  body: string;
};

/** Returns the number of a version, such as `2.1`. */
export function numberOf({ major, minor }: VersionNumber): string {
  return `${major}.${minor}`;
}

export function versionJson(row: VersionRow): PromptVersionJson {
  return {
    id: row.version_id,
    model: row.model,
    prompt_id: row.prompt_id,
    major_version: row.major,
    minor_version: row.minor,
    commit_message: row.commit_message,
    environments: row.environments,
    variables: JSON.parse(row.variables) as PromptVersionJson['variables'],
    created_at: row.created_at.toISOString(),
  };
}

/** Returns the texts of a version. */
export function versionTexts(row: WholeVersionRow): VersionTexts {
  return { version: JSON.stringify(versionJson(row)), body: row.body };
}
