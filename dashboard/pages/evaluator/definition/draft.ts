/** The form of an evaluator: its fields as texts, and the bodies that they become. Pure. */
import type { Choice } from '#core/contracts/categories.ts';
import type { CodeLimits, CodeTemplate, LlmTemplate } from '#core/contracts/evaluator.ts';
import { type Adapter, isJudgeType, type Scope } from '#core/evaluations/mod.ts';
import type { Evaluator, Templates } from '../../../client/evaluators.ts';
import type { LabelField } from '../../../parts/form/label-fields.tsx';
import { numberOf } from '../../../parts/form/number-of.ts';
import {
  categoriesOf,
  categoryDrafts,
  type ExampleDraft,
  exampleDrafts,
  examplesOf,
} from './example-draft.ts';
import { configOf, type ExternalDraft, externalDraftOf } from './external-draft.ts';
import {
  type CriterionDraft,
  type JudgedType,
  type JuryDraft,
  juryDraft,
  juryOf,
  NO_JURY,
  promptFor,
} from './judge-draft.ts';

export const KINDS = ['llm', 'python', 'external'] as const;
export type Kind = (typeof KINDS)[number];

/** A choice as it is written; `key` names its row while rows come and go. */
export type ChoiceDraft = { key: number; score: string; description: string };

/** What the form holds. Numbers are texts until they are sent. */
export type Draft = {
  kind: Kind;
  scope: Scope;
  name: string;
  /** USD a day; empty: no limit. */
  budget: string;
  scoringType: JudgedType;
  model: string;
  prompt: string;
  min: string;
  max: string;
  choices: ChoiceDraft[];
  code: string;
  wallMs: string;
  cpuSeconds: string;
  memoryMb: string;
  external: ExternalDraft;
  /** Judges that give one score have them. */
  examples: ExampleDraft[];
  jury: JuryDraft;
  /** Rubrics have them. */
  criteria: CriterionDraft[];
  /** Of code; none: it returns numbers. */
  categories: LabelField[];
  /** The score from which an answer passes; empty: the middle. */
  threshold: string;
  /** Members of the template that the form does not show: a change leaves them as they are. */
  kept: Readonly<Record<string, unknown>>;
};

const FIRST_CODE = `def evaluate(input, output):
    # input: the last user message; output: the answer. Return a bool, an int or a float.
    return len(output) > 0
`;

const EMPTY: Omit<Draft, 'kind'> = {
  scope: 'request',
  name: '',
  budget: '',
  scoringType: 'LLM-BOOLEAN',
  model: '',
  prompt: promptFor('LLM-BOOLEAN', 'request'),
  min: '1',
  max: '5',
  choices: [
    { key: 0, score: '0', description: 'bad' },
    { key: 1, score: '1', description: 'good' },
  ],
  code: FIRST_CODE,
  wallMs: '',
  cpuSeconds: '',
  memoryMb: '',
  external: externalDraftOf({ adapter: 'http' }),
  examples: [],
  jury: NO_JURY,
  criteria: [],
  categories: [],
  threshold: '',
  kept: {},
};

/** Reads the kind of an address; a judge without. */
export function readKind(text: string | undefined): Kind {
  return KINDS.find((kind) => kind === text) ?? 'llm';
}

/** Returns the form of a new evaluator. */
export function emptyDraft(kind: Kind): Draft {
  return { kind, ...EMPTY };
}

const textOf = (value: number | null | undefined) =>
  value === null || value === undefined ? '' : String(value);

function llmFields(template: LlmTemplate): Partial<Draft> {
  const { model, prompt, min, max, choices, examples = [], jury, criteria = [], ...kept } = template;
  return {
    model,
    prompt,
    examples: exampleDrafts(examples),
    jury: juryDraft(jury),
    criteria,
    kept,
    ...(min !== undefined && { min: textOf(min) }),
    ...(max !== undefined && { max: textOf(max) }),
    ...(choices !== undefined && { choices: choices.map(choiceDraft) }),
  };
}

const choiceDraft = ({ score, description }: Choice, key: number): ChoiceDraft => ({
  key,
  score: String(score),
  description,
});

function codeFields({ code, limits = {}, categories = [], ...kept }: CodeTemplate): Partial<Draft> {
  const { wallMs, cpuSeconds, memoryMb } = limits;
  return {
    code,
    wallMs: textOf(wallMs),
    cpuSeconds: textOf(cpuSeconds),
    memoryMb: textOf(memoryMb),
    categories: categoryDrafts(categories),
    kept,
  };
}

/** Returns the form of an evaluator as it is. */
export function draftOf({
  name,
  scoring_type,
  scope,
  daily_budget_usd,
  threshold,
  llm_template,
  code_template,
  external_config,
}: Pick<
  Evaluator,
  'name' | 'scoring_type' | 'scope' | 'daily_budget_usd' | 'threshold' | keyof Templates
>): Draft {
  const shared = { name, scope, budget: textOf(daily_budget_usd), threshold: textOf(threshold) };
  if (llm_template !== null) {
    const scoringType = scoring_type as JudgedType;
    return { ...emptyDraft('llm'), ...shared, scoringType, ...llmFields(llm_template) };
  }
  if (code_template !== null) return { ...emptyDraft('python'), ...shared, ...codeFields(code_template) };
  const external = externalDraftOf(external_config ?? { adapter: 'http' as Adapter });
  return { ...emptyDraft('external'), ...shared, external };
}

/** Returns an object without its undefined members. */
function defined<T extends object>(given: T): T {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as T;
}

/** Returns the members that only judges of one type have. */
function scaleOf(draft: Draft) {
  const { scoringType, min, max, choices } = draft;
  switch (scoringType) {
    case 'LLM-RUBRIC':
      return { criteria: draft.criteria };
    case 'LLM-BOOLEAN':
    case 'LLM-PAIRWISE':
      return {};
    case 'LLM-RANGE':
      return { min: numberOf(min), max: numberOf(max) };
    case 'LLM-CHOICE':
      return {
        choices: choices.map(({ score, description }) => defined({ score: numberOf(score), description })),
      };
  }
}

function llmTemplateOf(draft: Draft) {
  const { scoringType, model, prompt, examples, jury, kept } = draft;
  return defined({
    model,
    prompt,
    ...scaleOf(draft),
    examples: isJudgeType(scoringType) ? examplesOf(scoringType, examples) : undefined,
    jury: scoringType === 'LLM-RUBRIC' ? undefined : juryOf(jury),
    ...kept,
  });
}

function limitsOf({ wallMs, cpuSeconds, memoryMb }: Draft): CodeLimits | undefined {
  const given = { wallMs: numberOf(wallMs), cpuSeconds: numberOf(cpuSeconds), memoryMb: numberOf(memoryMb) };
  const limits = defined(given) as CodeLimits;
  return Object.keys(limits).length === 0 ? undefined : limits;
}

function codeTemplateOf(draft: Draft) {
  const { code, categories, kept } = draft;
  return defined({ code, categories: categoriesOf(categories), limits: limitsOf(draft), ...kept });
}

/** The member of a body that defines an evaluator. */
function templateOf(draft: Draft) {
  switch (draft.kind) {
    case 'llm':
      return { llm_template: llmTemplateOf(draft) };
    case 'python':
      return { code_template: codeTemplateOf(draft) };
    case 'external':
      return { external_config: configOf(draft.external) };
  }
}

const SCORING_TYPES = { python: 'PYTHON', external: 'EXTERNAL' } as const;

/** Returns the body of `POST /v1/evaluator`, and of `PUT /v1/evaluator/{id}`. */
export function bodyOf(draft: Draft) {
  const budget = numberOf(draft.budget) ?? null;
  return {
    name: draft.name,
    scoring_type: draft.kind === 'llm' ? draft.scoringType : SCORING_TYPES[draft.kind],
    scope: draft.scope,
    ...templateOf(draft),
    // Python costs nothing, and takes no budget.
    ...(draft.kind !== 'python' && { daily_budget_usd: budget }),
    threshold: numberOf(draft.threshold) ?? null,
  };
}

/** Returns whether saving makes a new version: another template or threshold, not only another name or budget. */
export function isNewVersion(draft: Draft, saved: Draft): boolean {
  const versionOf = (one: Draft) => JSON.stringify([templateOf(one), numberOf(one.threshold)]);
  return versionOf(draft) !== versionOf(saved);
}

/** The subject of a try-out: a request, or a session of the log. */
export type TestInput =
  | { inputBody: unknown; outputBody: unknown; inputs?: Record<string, unknown> }
  | { sessionId: string };

/** Returns the call that tries the form out. */
export function trialOf(draft: Draft, testInput: TestInput): { path: string; body: unknown } {
  const named = draft.name.trim() === '' ? {} : { evaluatorName: draft.name };
  switch (draft.kind) {
    case 'llm':
      return {
        path: '/v1/evaluator/llm/test',
        body: {
          evaluatorConfig: {
            evaluator_scoring_type: draft.scoringType,
            evaluator_llm_template: llmTemplateOf(draft),
          },
          testInput,
          ...named,
        },
      };
    case 'python':
      return {
        path: '/v1/evaluator/python/test',
        body: { ...codeTemplateOf(draft), testInput, ...named },
      };
    case 'external':
      return {
        path: '/v1/evaluator/external/test',
        body: { external_config: configOf(draft.external), testInput, ...named },
      };
  }
}
