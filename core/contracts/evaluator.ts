/** Templates of evaluators, and the rules for them. An error names the JSON path, the value and the rule. */
import { type Static, Type } from '@sinclair/typebox';
import { isObject, type JsonObject } from '../json/mod.ts';
import { parseTemplate, type ScoringType } from '../scoring/mod.ts';
import { Compile, parseWith, quoteValue } from './check.ts';
import { AssayError } from './errors.ts';
import { invalidField } from './invalid.ts';
import { closed } from './shapes.ts';

/** Code points. */
export const MAX_EVALUATOR_NAME_LENGTH = 100;
/** Characters of a judge's model. */
const MAX_MODEL_LENGTH = 200;
/** Number of choices of an LLM-CHOICE. */
const CHOICES = { min: 2, max: 50 } as const;
/** Characters of a choice's label: a sentence or two. A judge is sent all labels twice. */
const MAX_LABEL_LENGTH = 500;

/** Types whose evaluators have a judge. */
export type LlmScoringType = Exclude<ScoringType, 'PYTHON' | 'EXTERNAL'>;

/** One answer that a judge may choose; `description` is its label. */
export type Choice = { score: number; description: string };

/** The template of an LLM evaluator: `min` and `max` for LLM-RANGE, `choices` for LLM-CHOICE. */
export type LlmTemplate = {
  model: string;
  prompt: string;
  min?: number;
  max?: number;
  choices?: Choice[];
};

/** The template of a PYTHON evaluator: code that defines `evaluate(input, output)`. */
export type CodeTemplate = {
  code: string;
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

/** Folds a label for comparison: labels are equal ignoring case and surrounding space. */
export function foldLabel(label: string): string {
  return label.trim().normalize('NFC').toLowerCase();
}

const LLM_FIELDS: Readonly<Record<LlmScoringType, readonly string[]>> = {
  'LLM-BOOLEAN': [],
  'LLM-CHOICE': ['choices'],
  'LLM-RANGE': ['min', 'max'],
};
const SPECIAL_FIELDS = ['min', 'max', 'choices'];

const Special = Type.Optional(Type.Unknown());
const LlmTemplateShape = Type.Object(
  {
    model: Type.String({ maxLength: MAX_MODEL_LENGTH }),
    prompt: Type.String(),
    min: Special,
    max: Special,
    choices: Special,
  },
  closed,
);

/** Wraps a value in objects so that it lies at `path`, and the paths in the schema's errors begin with that path. */
function nestUnder(path: readonly string[], innermost: unknown): unknown {
  return path.reduceRight<unknown>((value, name) => ({ [name]: value }), innermost);
}

function readFinite(value: unknown, path: string): number {
  if (value === undefined || value === null) throw invalidField(path, 'is required');
  if (typeof value !== 'number') throw invalidField(path, `must be a number, but is ${quoteValue(value)}`);
  // JSON has no infinity, but JSON.parse reads 1e999 as one.
  if (!Number.isFinite(value)) throw invalidField(path, 'must be a finite number, but is larger than any');
  return value + 0;
}

function requireNotBlank(text: string, path: string): string {
  if (text.trim() === '') throw invalidField(path, 'must not be empty');
  return text;
}

/**
 * Makes a reader for LLM templates that lie at `path` in a body.
 * @returns a function that throws AssayError invalid_body, or returns a template with only the fields of its type
 */
export function llmTemplateReader(
  path: readonly string[],
): (scoringType: LlmScoringType, value: unknown) => LlmTemplate {
  const shape = path.reduceRight(
    (inner, name) => Type.Object({ [name]: inner }),
    LlmTemplateShape as ReturnType<typeof Type.Object>,
  );
  const checker = Compile(shape);
  const at = path.join('.');
  return (scoringType, value) => {
    parseWith(checker, nestUnder(path, value));
    const template = value as JsonObject & { model: string; prompt: string };
    for (const field of SPECIAL_FIELDS) {
      if (LLM_FIELDS[scoringType].includes(field) || (template[field] ?? null) === null) continue;
      throw invalidField(`${at}.${field}`, `does not belong to the scoring_type ${scoringType}`);
    }
    const model = requireNotBlank(template.model, `${at}.model`);
    const prompt = checkPrompt(template.prompt, at);
    switch (scoringType) {
      case 'LLM-BOOLEAN':
        return { model, prompt };
      case 'LLM-RANGE':
        return { model, prompt, ...readRange(template, at) };
      case 'LLM-CHOICE':
        return { model, prompt, choices: readChoices(template.choices, `${at}.choices`) };
    }
  };
}

/** Checks a prompt; the errors of `parseTemplate` begin with `prompt`, here preceded by the path. */
function checkPrompt(prompt: string, at: string): string {
  try {
    parseTemplate(prompt);
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

function readChoices(value: unknown, at: string): Choice[] {
  if (value === undefined || value === null) throw invalidField(at, 'is required');
  if (!Array.isArray(value)) throw invalidField(at, `must be an array, but is ${quoteValue(value)}`);
  if (value.length < CHOICES.min || value.length > CHOICES.max) {
    throw invalidField(at, `must hold ${CHOICES.min} to ${CHOICES.max} choices, but holds ${value.length}`);
  }
  const seen = new Map<string, number>();
  return value.map((given, index) => {
    const choice = readChoice(given, index, `${at}.${index}`);
    const label = foldLabel(choice.description);
    const twin = seen.get(label);
    if (twin !== undefined) {
      throw invalidField(
        `${at}.${index}`,
        `has the label of ${at}.${twin}, ignoring case and surrounding space: ${quoteValue(choice.description)}`,
      );
    }
    seen.set(label, index);
    return choice;
  });
}

/** Reads one choice: a bare text is a label whose score is its index, a bare number is its own label. */
function readChoice(given: unknown, index: number, at: string): Choice {
  if (typeof given === 'string') return { score: index, description: readLabel(given, at) };
  if (typeof given === 'number') return { score: readFinite(given, at), description: String(given + 0) };
  if (!isObject(given)) {
    throw invalidField(
      at,
      `must be a string, a number or an object of score and description, but is ${quoteValue(given)}`,
    );
  }
  const unknown = Object.keys(given).find((name) => name !== 'score' && name !== 'description');
  if (unknown !== undefined) throw invalidField(`${at}.${unknown}`, 'is not a known field');
  const { description } = given;
  if (description === undefined || description === null)
    throw invalidField(`${at}.description`, 'is required');
  if (typeof description !== 'string') {
    throw invalidField(`${at}.description`, `must be a string, but is ${quoteValue(description)}`);
  }
  return {
    score: readFinite(given.score, `${at}.score`),
    description: readLabel(description, `${at}.description`),
  };
}

function readLabel(label: string, at: string): string {
  if (label.length > MAX_LABEL_LENGTH) {
    throw invalidField(at, `must have at most ${MAX_LABEL_LENGTH} characters, but has ${label.length}`);
  }
  return requireNotBlank(label, at);
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
    code_template: Type.Object({ code: Type.String(), limits: Type.Optional(CodeLimits) }, closed),
  }),
);

/**
 * Reads `code_template`. Only its shape is checked: Python itself compiles the code later.
 * @throws AssayError invalid_body
 */
export function readCodeTemplate(value: unknown): CodeTemplate {
  const { code_template: template } = parseWith(codeTemplateChecker, { code_template: value });
  checkCode(template.code, 'code_template.code');
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
