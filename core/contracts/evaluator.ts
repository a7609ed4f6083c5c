/** Templates of evaluators, and the rules for them. An error names the JSON path, the value and the rule. */
import { type Static, Type } from '@sinclair/typebox';
import type { Scope } from '../evaluations/mod.ts';
import type { JsonObject } from '../json/mod.ts';
import { type LlmScoringType, pairPrompt, parseTemplate, type ScoringType } from '../scoring/mod.ts';
import { Categories, type Category, type Choice, checkCategories, readChoices } from './categories.ts';
import { Compile, parseWith } from './check.ts';
import { AssayError } from './errors.ts';
import { checkExamples, type Example, Examples } from './examples.ts';
import { invalidField } from './invalid.ts';
import { type Jury, type JuryRule, JuryShape, readJury } from './jury.ts';
import { compileAt } from './nested.ts';
import { readFinite, requireNotBlank } from './read-value.ts';
import { CriteriaShape, type CriterionReference } from './rubric.ts';
import { closed } from './shapes.ts';

export type { LlmScoringType } from '../evaluations/mod.ts';

/** Code points. */
export const MAX_EVALUATOR_NAME_LENGTH = 100;
/** Characters of a judge's model. */
const MAX_MODEL_LENGTH = 200;

/** The template of an LLM evaluator: `min` and `max` for LLM-RANGE, `choices` for LLM-CHOICE, `criteria` for LLM-RUBRIC. */
export type LlmTemplate = {
  model: string;
  prompt: string;
  min?: number;
  max?: number;
  choices?: Choice[];
  examples?: Example[];
  /** Further models that judge the same answers; absent: `model` judges alone. */
  jury?: Jury;
  criteria?: CriterionReference[];
};

/** The template of a PYTHON evaluator: code that defines `evaluate(input, output)`. */
export type CodeTemplate = {
  code: string;
  /** The labels that the code may return, with their scores. */
  categories?: Category[];
  /** Omitted limits have the sandbox's defaults. */
  limits?: CodeLimits;
};

/** The fields of a body that define an evaluator, one for each kind. */
export const TEMPLATE_FIELDS = ['llm_template', 'code_template', 'external_config'] as const;
export type TemplateField = (typeof TEMPLATE_FIELDS)[number];

/** Returns the field that defines an evaluator of this type. */
export function templateFieldOf(scoringType: ScoringType): TemplateField {
  if (scoringType === 'PYTHON') return 'code_template';
  return scoringType === 'EXTERNAL' ? 'external_config' : 'llm_template';
}

/** Types whose template is a prompt and a scale: that of pairs is the same for all. */
type TemplateType = LlmScoringType | 'LLM-PAIRWISE';

const LLM_FIELDS: Readonly<Record<TemplateType, readonly string[]>> = {
  'LLM-BOOLEAN': [],
  'LLM-CHOICE': ['choices', 'categories'],
  'LLM-RANGE': ['min', 'max'],
  'LLM-PAIRWISE': [],
};
/** Rules of a jury that make one of the scores that a member may give, the default first. */
const JURY_RULES_OF: Readonly<Record<TemplateType, readonly JuryRule[]>> = {
  'LLM-BOOLEAN': ['majority'],
  'LLM-CHOICE': ['majority', 'median'],
  'LLM-RANGE': ['median', 'mean'],
  'LLM-PAIRWISE': ['majority'],
};
const SPECIAL_FIELDS = ['min', 'max', 'choices', 'categories'];

const Special = Type.Optional(Type.Unknown());
const LlmTemplateShape = Type.Object(
  {
    model: Type.String({ maxLength: MAX_MODEL_LENGTH }),
    prompt: Type.String(),
    min: Special,
    max: Special,
    choices: Special,
    categories: Special,
    examples: Special,
    jury: Special,
  },
  closed,
);

/**
 * Makes a reader for LLM templates that lie at `path` in a body.
 * @returns a function that throws AssayError invalid_body, or returns a template with only the fields of its type
 */
export function llmTemplateReader(
  path: readonly string[],
): (scoringType: TemplateType, value: unknown, scope?: Scope) => LlmTemplate {
  const check = compileAt(path, LlmTemplateShape);
  const checkShapeOfCategories = compileAt([...path, 'categories'], Categories);
  const checkShapeOfExamples = compileAt([...path, 'examples'], Examples);
  const checkShapeOfJury = compileAt([...path, 'jury'], JuryShape);
  const at = path.join('.');
  return (scoringType, value, scope = 'request') => {
    check(value);
    const template = value as JsonObject & { model: string; prompt: string };
    for (const field of SPECIAL_FIELDS) {
      if (LLM_FIELDS[scoringType].includes(field) || (template[field] ?? null) === null) continue;
      throw invalidField(`${at}.${field}`, `does not belong to the scoring_type ${scoringType}`);
    }
    const model = requireNotBlank(template.model, `${at}.model`);
    const prompt = checkPrompt(template.prompt, at, scope);
    if (scoringType === 'LLM-PAIRWISE') checkPairTemplate(template, at);
    const scale = readScale(scoringType, template, { at, checkShapeOfCategories });
    const examples = template.examples ?? [];
    checkShapeOfExamples(examples);
    checkExamples(examples as Example[], scale, `${at}.examples`);
    const isWithout = (examples as Example[]).length === 0;
    return {
      model,
      prompt,
      ...scale,
      ...(isWithout ? {} : { examples: examples as Example[] }),
      ...readOwnJury(scoringType, template, { at: `${at}.jury`, checkShapeOfJury }),
    };
  };
}

/** Returns the member `jury` of a template; nothing when it has none. */
function readOwnJury(
  scoringType: TemplateType,
  { model, jury }: JsonObject & { model: string },
  { at, checkShapeOfJury }: { at: string; checkShapeOfJury: (value: unknown) => void },
): Pick<LlmTemplate, 'jury'> {
  if ((jury ?? null) === null) return {};
  checkShapeOfJury(jury);
  const given = jury as Parameters<typeof readJury>[0];
  return { jury: readJury(given, { model, rules: JURY_RULES_OF[scoringType], at }) };
}

type ScaleOptions = { at: string; checkShapeOfCategories: (value: unknown) => void };

/** Reads the fields that only one type has. */
function readScale(
  scoringType: TemplateType,
  template: JsonObject,
  options: ScaleOptions,
): Pick<LlmTemplate, 'min' | 'max' | 'choices'> {
  switch (scoringType) {
    case 'LLM-BOOLEAN':
    case 'LLM-PAIRWISE':
      return {};
    case 'LLM-RANGE':
      return readRange(template, options.at);
    case 'LLM-CHOICE':
      return { choices: readEitherName(template, options) };
  }
}

/** Reads the choices of a judge, or its categories: the same under the name that other evaluators have them by. */
function readEitherName(template: JsonObject, { at, checkShapeOfCategories }: ScaleOptions): Choice[] {
  const { choices, categories } = template;
  if ((categories ?? null) === null) return readChoices(choices, `${at}.choices`);
  if ((choices ?? null) === null) {
    checkShapeOfCategories(categories);
    return checkCategories(categories as Category[], `${at}.categories`);
  }
  throw invalidField(`${at}.categories`, `is another name of ${at}.choices: give one of the two`);
}

/** @throws AssayError invalid_body */
function checkPairTemplate({ prompt, examples }: JsonObject & { prompt: string }, at: string): void {
  if (prompt.includes('{{')) {
    throw invalidField(`${at}.prompt`, 'must have no variables: the input and both answers are appended');
  }
  checkPrompt(pairPrompt(prompt), at, 'request');
  if ((examples ?? null) !== null)
    throw invalidField(`${at}.examples`, 'does not belong to the scoring_type LLM-PAIRWISE');
}

/** Checks a prompt; the errors of `parseTemplate` begin with `prompt`, here preceded by the path. */
function checkPrompt(prompt: string, at: string, scope: Scope): string {
  try {
    parseTemplate(prompt, scope);
    return prompt;
  } catch (error) {
    if (!(error instanceof AssayError)) throw error;
    throw new AssayError(error.code, `${at}.${error.message}`);
  }
}

function readRange(template: JsonObject, at: string): { min: number; max: number } {
  const min = readFinite(template.min, `${at}.min`);
  const max = readFinite(template.max, `${at}.max`);
  if (min < max) return { min, max };
  throw invalidField(`${at}.min`, `must be less than ${at}.max, which is ${max}, but is ${min}`);
}

/** The template of a rubric as callers give it. */
export type RubricTemplate = { model: string; prompt: string; criteria: Static<typeof CriteriaShape> };

const checkShapeOfRubric = compileAt(
  ['llm_template'],
  Type.Object(
    { model: Type.String({ maxLength: MAX_MODEL_LENGTH }), prompt: Type.String(), criteria: CriteriaShape },
    closed,
  ),
);

/**
 * Reads the `llm_template` of a rubric. Only its shape is checked: which evaluators there are, the store knows.
 * @throws AssayError invalid_body
 */
export function readRubricTemplate(value: unknown, scope: Scope): RubricTemplate {
  checkShapeOfRubric(value);
  const { model, prompt, criteria } = value as RubricTemplate;
  return {
    model: requireNotBlank(model, 'llm_template.model'),
    prompt: checkPrompt(prompt, 'llm_template', scope),
    criteria,
  };
}

/**
 * The largest limits that an evaluator may ask for. The sandbox has no bounds of its own.
 * @internal Exported so that tests compare it with docs/guides/evaluators.md.
 */
export const MAX_CODE_LIMITS = { wallMs: 10_000, cpuSeconds: 10, memoryMb: 512 } as const;

const atMost = (least: number, most: number) =>
  Type.Optional(Type.Integer({ minimum: least, maximum: most }));

/** Limits of one evaluation: milliseconds of wall time, seconds of CPU, MB of memory beyond Python's own. */
export const CodeLimits = Type.Object(
  {
    wallMs: atMost(10, MAX_CODE_LIMITS.wallMs),
    cpuSeconds: atMost(1, MAX_CODE_LIMITS.cpuSeconds),
    memoryMb: atMost(16, MAX_CODE_LIMITS.memoryMb),
  },
  closed,
);
export type CodeLimits = Static<typeof CodeLimits>;

const codeTemplateChecker = Compile(
  Type.Object({
    code_template: Type.Object(
      { code: Type.String(), categories: Type.Optional(Categories), limits: Type.Optional(CodeLimits) },
      closed,
    ),
  }),
);

/**
 * Reads `code_template`. Only its shape is checked: Python itself compiles the code later.
 * @throws AssayError invalid_body
 */
export function readCodeTemplate(value: unknown): CodeTemplate {
  const { code_template: template } = parseWith(codeTemplateChecker, { code_template: value });
  checkCode(template.code, 'code_template.code');
  if (template.categories !== undefined) checkCategories(template.categories, 'code_template.categories');
  return template;
}

/**
 * Refuses source that Postgres cannot store unchanged: changed, it would be another program.
 * @throws AssayError invalid_body
 */
export function checkCode(code: string, path: string): void {
  const nul = code.indexOf('\0');
  if (nul !== -1) {
    const line = code.slice(0, nul).split('\n').length;
    throw invalidField(path, `has a NUL character in line ${line}, which Python does not allow`);
  }
  if (!code.isWellFormed()) throw invalidField(path, 'is not valid Unicode: it has half of a surrogate pair');
  requireNotBlank(code, path);
}
