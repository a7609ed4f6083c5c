import type { CodeTemplate, LlmTemplate } from '#core/contracts/evaluator.ts';
import type { CalledConfig } from '#core/contracts/external.ts';
import type { JsonObject } from '#core/json/mod.ts';
import type { ScoringType } from '#core/scoring/mod.ts';
import { type SecretBox, type SecretOwner, SecretsUnavailableError } from '#platform/secrets/mod.ts';
import type { Criterion } from '../llm/mod.ts';
import { failed, type NextState } from '../queue/mod.ts';
import type { Definition } from './scorer.ts';

/** An evaluator's definition as it is stored. */
type StoredDefinition = {
  scoringType: ScoringType;
  llmTemplate: unknown;
  codeTemplate: unknown;
  externalConfig: unknown;
  secrets: Uint8Array | null;
  /** The criteria of a rubric; null or absent: another type. */
  criteria?: readonly Criterion[] | null;
};

/** A definition, or the next state of its evaluations if its secrets cannot be opened in this process. */
type ReadDefinition = { kind: 'read'; definition: Definition } | { kind: 'unreadable'; next: NextState };

/** Reads a stored definition and opens its secrets. */
export function readDefinition(
  stored: StoredDefinition,
  secrets: SecretBox,
  owner: SecretOwner,
): ReadDefinition {
  const { scoringType } = stored;
  switch (scoringType) {
    case 'PYTHON':
      return { kind: 'read', definition: { scoringType, template: stored.codeTemplate as CodeTemplate } };
    case 'EXTERNAL':
      try {
        const opened = stored.secrets === null ? {} : secrets.open(stored.secrets, owner);
        const config = stored.externalConfig as JsonObject as CalledConfig;
        return { kind: 'read', definition: { scoringType, config, secrets: opened } };
      } catch (error) {
        if (!(error instanceof SecretsUnavailableError)) throw error;
        return { kind: 'unreadable', next: failed('secrets_unavailable', error.message) };
      }
    case 'LLM-RUBRIC': {
      const template = stored.llmTemplate as LlmTemplate;
      return { kind: 'read', definition: { scoringType, template, criteria: stored.criteria ?? [] } };
    }
    default:
      return { kind: 'read', definition: { scoringType, template: stored.llmTemplate as LlmTemplate } };
  }
}
