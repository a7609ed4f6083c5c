/** Turns the fields of a body into a stored definition: checks them, compiles code and seals secrets. */
import { isDeepStrictEqual } from 'node:util';
import { AssayError } from '#core/contracts/errors.ts';
import {
  type LlmTemplate,
  llmTemplateReader,
  readCodeTemplate,
  TEMPLATE_FIELDS,
  type TemplateField,
  templateFieldOf,
} from '#core/contracts/evaluator.ts';
import { type ExternalSecrets, readExternalConfig } from '#core/contracts/external.ts';
import type { CompileTrialResult } from '#core/contracts/trial.ts';
import { storableJson } from '#core/json/mod.ts';
import type { Scope, ScoringType } from '#core/scoring/mod.ts';
import type { Sql } from '#platform/postgres/mod.ts';
import { type SecretBox, type SecretOwner, SecretsUnavailableError } from '#platform/secrets/mod.ts';
import type { EvaluatorRow, Templates } from './evaluator-json.ts';
import type { CheckJudgeModel } from './judge-models.ts';
import { readRubric } from './rubric.ts';
import type { Trials } from './trials.ts';

/** One version of an evaluator. */
export type Definition = Templates & { secrets: Buffer | null };

export type DefineOptions = {
  /** Under the role `assay_api`. */
  sql: Sql;
  trials: Pick<Trials, 'run'>;
  secrets: SecretBox;
  /** Returns the reason why a URL cannot be called, as the rest of a sentence; null when it may be called. */
  checkUrl: (url: string) => string | null;
  checkJudgeModel: CheckJudgeModel;
};

export type DefinitionRequest = SecretOwner & {
  scoringType: ScoringType;
  scope: Scope;
  /** The value of the type's own field. */
  value: unknown;
  /** The version that it replaces. */
  previous: EvaluatorRow | null;
};

const NOTHING: Definition = {
  llm_template: null,
  code_template: null,
  external_config: null,
  secrets: null,
};

const readLlmTemplate = llmTemplateReader(['llm_template']);

/**
 * Returns the value of the one template field that a scoring type has; undefined when it is absent or null.
 * @throws AssayError invalid_body when a field of another type is there
 */
export function ownTemplate(scoringType: ScoringType, body: { [field in TemplateField]?: unknown }): unknown {
  const own = templateFieldOf(scoringType);
  for (const field of TEMPLATE_FIELDS) {
    if (field === own || (body[field] ?? null) === null) continue;
    throw new AssayError('invalid_body', `${field} does not belong to the scoring_type ${scoringType}`);
  }
  return body[own] ?? undefined;
}

/**
 * Makes a definition; null when it equals `previous`.
 * @throws AssayError invalid_body, evaluators_unavailable
 */
export async function define(options: DefineOptions, wanted: DefinitionRequest): Promise<Definition | null> {
  const { scoringType, scope, value, previous } = wanted;
  switch (scoringType) {
    case 'PYTHON': {
      const code_template = readCodeTemplate(value);
      if (previous !== null && isDeepStrictEqual(previous.code_template, code_template)) return null;
      await compile(options.trials, wanted.organizationId, code_template.code);
      return { ...NOTHING, code_template };
    }
    case 'EXTERNAL':
      return defineExternal(options, wanted);
    case 'LLM-RUBRIC':
      return await defineJudge(options, wanted, await readRubric(options.sql, wanted, value));
    default:
      return await defineJudge(options, wanted, readLlmTemplate(scoringType, value, scope));
  }
}

async function defineJudge(
  { checkJudgeModel }: DefineOptions,
  { organizationId, previous }: DefinitionRequest,
  template: LlmTemplate,
): Promise<Definition | null> {
  const llm_template = storable(template);
  if (previous !== null && isDeepStrictEqual(previous.llm_template, llm_template)) return null;
  await checkJudges(checkJudgeModel, { organizationId, template: llm_template, at: 'llm_template' });
  return { ...NOTHING, llm_template };
}

/**
 * Checks that the judge, and each further member of its jury, can be called.
 * @throws AssayError invalid_body
 */
export async function checkJudges(
  check: CheckJudgeModel,
  { organizationId, template, at }: { organizationId: string; template: LlmTemplate; at: string },
): Promise<void> {
  await check({ organizationId, model: template.model, path: `${at}.model` });
  for (const [index, model] of (template.jury?.models ?? []).entries()) {
    await check({ organizationId, model, path: `${at}.jury.models.${index}` });
  }
}

/** Returns a value as Postgres would return it. */
function storable<T>(value: T): T {
  return JSON.parse(storableJson(value).text);
}

async function compile(trials: Pick<Trials, 'run'>, organizationId: string, code: string): Promise<void> {
  const result = await trials.run({ organizationId, body: { kind: 'compile', code } });
  if (!result.ok) throw new AssayError('invalid_body', compileSentence(result));
}

/** Returns Python's own message and the place it points to, as a sentence. */
function compileSentence(result: CompileTrialResult & { ok: false }): string {
  const { line, column } = result;
  const place = [line === null ? '' : `line ${line}`, column === null ? '' : `column ${column}`]
    .filter((part) => part !== '')
    .join(', ');
  return `code_template.code cannot be used: ${result.message}${place === '' ? '' : ` (${place})`}`;
}

function defineExternal({ secrets: box, checkUrl }: DefineOptions, wanted: DefinitionRequest) {
  const { organizationId, evaluatorId, previous } = wanted;
  const owner = { organizationId, evaluatorId };
  const openSecrets = (): ExternalSecrets =>
    previous === null || previous.secrets === null
      ? {}
      : withSecrets(() => box.open(previous.secrets!, owner));
  const read = readExternalConfig(wanted.value, {
    checkUrl,
    previous:
      previous === null || previous.external_config === null
        ? null
        : { config: previous.external_config, openSecrets },
  });
  const external_config = storable(read.config);
  if (
    previous !== null &&
    isDeepStrictEqual(previous.external_config, external_config) &&
    isDeepStrictEqual(readableSecrets(openSecrets), read.secrets)
  ) {
    return null;
  }
  return { ...NOTHING, external_config, secrets: sealSecrets(box, read.secrets, owner) };
}

/** Seals secrets; null when there are none. */
export function sealSecrets(box: SecretBox, secrets: ExternalSecrets, owner: SecretOwner): Buffer | null {
  return Object.keys(secrets).length === 0 ? null : withSecrets(() => box.seal(secrets, owner));
}

/** Opens secrets; null when they cannot be opened any more, so that any replacement is another version. */
function readableSecrets(open: () => ExternalSecrets): ExternalSecrets | null {
  try {
    return open();
  } catch (error) {
    if (error instanceof AssayError && error.cause instanceof SecretsUnavailableError) return null;
    throw error;
  }
}

function withSecrets<T>(use: () => T): T {
  try {
    return use();
  } catch (error) {
    if (!(error instanceof SecretsUnavailableError)) throw error;
    throw new AssayError('invalid_body', `external_config has secrets. ${error.message}`, { cause: error });
  }
}
