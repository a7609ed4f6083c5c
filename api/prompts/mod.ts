/** Stored prompts, their versions and environments. The gateway expands them in calls. */

import type { Context } from './context.ts';
import { createEnvironments, type Environments } from './environments.ts';
import { createInputs, type RequestOfVersion } from './inputs.ts';
import { createPrompts, type Prompts } from './prompts.ts';
import { createVersions, type Versions } from './versions.ts';

export type { VersionTexts } from './version-json.ts';

/** The work behind the routes of `/v1/prompt-2025`, for one organization at a time. Bodies fit their schema. */
export type PromptService = {
  prompts: Prompts;
  versions: Versions;
  environments: Environments;
  /** The inputs of a request that used a version, as JSON text. */
  inputsOf(organizationId: string, ids: RequestOfVersion): Promise<string>;
};

export function createPromptService(context: Context): PromptService {
  return {
    prompts: createPrompts(context),
    versions: createVersions(context),
    environments: createEnvironments(context),
    inputsOf: createInputs(context),
  };
}
