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

export type PromptServiceOptions = Context & {
  /** Announces a change to gateways, beside Postgres's notifications; never rejects. */
  announce(): Promise<void>;
};

export function createPromptService({ announce, ...context }: PromptServiceOptions): PromptService {
  const announced =
    <Parameters extends unknown[], Result>(change: (...parameters: Parameters) => Promise<Result>) =>
    async (...parameters: Parameters): Promise<Result> => {
      const result = await change(...parameters);
      await announce();
      return result;
    };
  const prompts = createPrompts(context);
  const versions = createVersions(context);
  const environments = createEnvironments(context);
  // The changes that a call may notice: names and tags are none of its, and a new prompt is unknown to every gateway.
  return {
    prompts: { ...prompts, remove: announced(prompts.remove) },
    versions: { ...versions, add: announced(versions.add), remove: announced(versions.remove) },
    environments: {
      ...environments,
      set: announced(environments.set),
      remove: announced(environments.remove),
    },
    inputsOf: createInputs(context),
  };
}
