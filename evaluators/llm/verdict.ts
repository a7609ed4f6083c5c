/**
 * Finds the verdict in a judge's message. In order: the tool that it must call; a text that is JSON; one JSON object in a
 * code fence or on the last line; a last line that is the score and nothing else; for choices, a last sentence that is a
 * label and nothing else. A message with two verdicts has none, nor has one whose words behind a fence may be another.
 */
import { isObject, type JsonObject, storableJson, textOrNull } from '#core/json/mod.ts';
import { extractAnswer, isRefusal } from './answer-text.ts';
import { mayHoldVerdict, readLastLine, readLastSentence } from './closing-words.ts';
import type { JudgeMessage, ToolCall } from './completion.ts';
import { type FoundObject, findObjects } from './json-objects.ts';
import { isScoreProblem, type ParsedScore, readScore, type ScoreProblem } from './read-score.ts';
import type { Scale } from './scale.ts';
import { TOOL_NAME } from './score-form.ts';

/** The form in which a verdict was found. */
export type ParseMethod = 'tool_call' | 'json' | 'fenced_json' | 'text';

/** A judge's parsed reply. */
export type Verdict = ParsedScore & { reasoning: string | null; parse: ParseMethod };
/** The reason why a message has no verdict. */
export type NoVerdict = ScoreProblem | { code: 'judge_refused'; message: string };

/** No judge reasons at such length; a longer text is not searched. */
const MAX_TEXT_CHARACTERS = 65_536;

/** Narrows the result of `readVerdict`. */
export function hasVerdict(reading: Verdict | NoVerdict): reading is Verdict {
  return 'parse' in reading;
}

/** Finds the verdict of a message on a scale. */
export function readVerdict(message: JudgeMessage, scale: Scale): Verdict | NoVerdict {
  if (message.refusal !== null) return { code: 'judge_refused', message: 'it refuses to judge' };
  const calls = message.toolCalls.filter(({ name }) => isVerdictTool(name));
  if (calls.length > 0) return fromToolCalls(calls, message.text, scale);
  return fromText(extractAnswer(message.text), scale);
}

/** The object that a message answers with, and as it was written; empty when the server had parsed it. */
type AnswerObject = { value: JsonObject; text: string; parse: ParseMethod };

const TAKEN_BACK = malformed('the words after its verdict may be another verdict');

/**
 * Finds the one object of a message: the arguments of its only call, a text that is JSON, or one object at its end.
 * @param scales of the verdicts in the object
 */
export function findAnswer(message: JudgeMessage, scales: readonly Scale[]): AnswerObject | NoVerdict {
  if (message.refusal !== null) return { code: 'judge_refused', message: 'it refuses to judge' };
  const [call, ...others] = message.toolCalls.filter(({ name }) => isVerdictTool(name));
  if (others.length > 0) return malformed('it gives more than one verdict');
  if (call !== undefined) return objectOf(call.arguments);
  const text = extractAnswer(message.text);
  if (text.length > MAX_TEXT_CHARACTERS) return malformed('it is too long to be a verdict');
  const whole = parseJson(text);
  const asText = findToolCall(whole);
  if (asText !== null) return objectOf(asText.arguments);
  if (isObject(whole)) return { value: whole, text, parse: 'json' };
  const [only, ...more] = findObjects(text) ?? [];
  if (only === undefined || more.length > 0 || only.place === 'within') {
    return isRefusal(text)
      ? { code: 'judge_refused', message: 'it refuses to judge' }
      : malformed('it holds no verdict in the form asked for');
  }
  if (isTakenBack(only, scales)) return TAKEN_BACK;
  return { value: only.value, text: only.text, parse: only.place === 'fenced' ? 'fenced_json' : 'text' };
}

/** Returns whether words behind the fence of a verdict may be another: the fence may be a quotation. */
function isTakenBack(
  { after }: FoundObject,
  scales: readonly Scale[],
  own: ParsedScore | null = null,
): boolean {
  return scales.some((scale) => mayHoldVerdict(after, scale, own));
}

/** Reads the arguments of a call: an object, or its JSON. */
function objectOf(given: unknown): AnswerObject | NoVerdict {
  // The server parsed the arguments, so repeated members can no longer be detected.
  if (isObject(given)) return { value: given, text: '', parse: 'tool_call' };
  if (typeof given !== 'string') return malformed('the arguments of its call are not an object');
  const value = parseJson(given);
  // Some servers serialize the arguments twice.
  const inner = typeof value === 'string' ? parseJson(value) : value;
  if (!isObject(inner)) return malformed('the arguments of its call are not a JSON object');
  return { value: inner, text: typeof value === 'string' ? value : given, parse: 'tool_call' };
}

/** Compares the tool's name; some servers put a namespace before it or an index after it. */
function isVerdictTool(name: string): boolean {
  return name.replace(/^(?:functions?|tools?|default_api)[.:/]/, '').replace(/:\d+$/, '') === TOOL_NAME;
}

function malformed(message: string): ScoreProblem {
  return { code: 'judge_malformed', message };
}

/** Reads the verdict of tool calls; repeated calls with the same verdict count as one. */
function fromToolCalls(calls: readonly ToolCall[], text: string, scale: Scale): Verdict | NoVerdict {
  const [first, ...others] = calls.map((call) => fromArguments(call.arguments, scale));
  if (first === undefined || !hasVerdict(first)) return first ?? malformed('it calls no tool');
  const differs = others.some(
    (other) => !hasVerdict(other) || other.score !== first.score || other.label !== first.label,
  );
  if (differs) return malformed('it gives more than one verdict');
  return { ...first, reasoning: first.reasoning ?? nullIfBlank(extractAnswer(text)) };
}

function fromArguments(given: unknown, scale: Scale): Verdict | NoVerdict {
  if (typeof given === 'string' && given.trim() === '') return fromObject({}, '{}', 'tool_call', scale);
  const answer = objectOf(given);
  return 'code' in answer ? answer : fromObject(answer.value, answer.text, 'tool_call', scale);
}

/** Parses JSON; undefined when the text is not JSON. Servers in Python write NaN and Infinity, which JSON does not have. */
function parseJson(text: string): unknown {
  for (const candidate of [text, text.replace(/("score"\s*:\s*)([+-]?(?:NaN|Infinity))\b/, '$1"$2"')]) {
    try {
      return JSON.parse(candidate) as unknown;
    } catch {}
  }
  return undefined;
}

/** @param text the object as written: once parsed, a repeated member has only its last value */
function fromObject(value: JsonObject, text: string, parse: ParseMethod, scale: Scale): Verdict | NoVerdict {
  if ((text.match(/(?<!\\)"score"\s*:/g)?.length ?? 0) > 1) return malformed('it gives more than one score');
  const scored = readScore(Object.hasOwn(value, 'score') ? value.score : undefined, scale);
  if (isScoreProblem(scored)) return scored;
  return { ...scored, reasoning: reasoningOf(value.reasoning), parse };
}

/** Returns the reasoning of a verdict as text; null when there is none. */
export function reasoningOf(value: unknown): string | null {
  if (typeof value === 'string') return nullIfBlank(value);
  return value === undefined || value === null ? null : storableJson(value).text;
}

function nullIfBlank(text: string): string | null {
  return text.trim() === '' ? null : text;
}

function fromText(text: string, scale: Scale): Verdict | NoVerdict {
  if (text === '') return malformed('it holds no answer');
  if (text.length > MAX_TEXT_CHARACTERS) return malformed('it is too long to be a verdict');
  const whole = parseJson(text);
  const call = findToolCall(whole);
  if (call !== null) return fromArguments(call.arguments, scale);
  if (isObject(whole)) return fromObject(whole, text, 'json', scale);
  if (Array.isArray(whole)) return malformed('it is a list');
  return fromProse(text, scale);
}

/** Finds a call of the verdict tool that a server left as text: its JSON, alone or in a list of one. */
function findToolCall(value: unknown): ToolCall | null {
  const item: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
  if (!isObject(item)) return null;
  const called = isObject(item.function) ? item.function : item;
  const name = textOrNull(called.name);
  const given = called.arguments ?? called.parameters ?? called.input;
  return name !== null && given !== undefined && isVerdictTool(name) ? { name, arguments: given } : null;
}

function fromProse(text: string, scale: Scale): Verdict | NoVerdict {
  const objects = findObjects(text);
  if (objects === null) return malformed('it holds too many objects');
  const readings = objects.map((object) => ({
    ...object,
    reading: fromCalledOrObject(object.value, object.text, scale),
  }));
  const line = readLastLine(text, scale);
  const verdicts = readings.filter(({ reading }) => hasVerdict(reading));
  if (verdicts.length > 1) return malformed('it gives more than one verdict');
  const only = verdicts[0] ?? (readings.length === 1 ? readings[0] : undefined);
  if (only === undefined && readings.length === 0 && line !== null) {
    return isScoreProblem(line) ? line : { ...line, parse: 'text' };
  }
  if (only !== undefined && only.place !== 'within' && (line === null || only.place === 'last')) {
    const { reading, place } = only;
    if (isTakenBack(only, [scale], hasVerdict(reading) ? reading : null)) return TAKEN_BACK;
    return hasVerdict(reading) ? { ...reading, parse: place === 'fenced' ? 'fenced_json' : 'text' } : reading;
  }
  if (isRefusal(text)) return { code: 'judge_refused', message: 'it refuses to judge' };
  const sentence = readings.length === 0 ? readLastSentence(text, scale) : null;
  if (sentence !== null) return { ...sentence, parse: 'text' };
  return unknownChoice(text, scale) ?? malformed('it holds no verdict in the form asked for');
}

function fromCalledOrObject(value: JsonObject, text: string, scale: Scale): Verdict | NoVerdict {
  const call = findToolCall(value);
  return call === null ? fromObject(value, text, 'json', scale) : fromArguments(call.arguments, scale);
}

const SHORT_ANSWER = 100;

/** Reads one line of a few words, where a choice was requested, as a choice that does not exist. */
function unknownChoice(text: string, scale: Scale): ScoreProblem | null {
  if (scale.kind !== 'choice' || text.length > SHORT_ANSWER || text.includes('\n') || text.includes('{'))
    return null;
  return { code: 'judge_unknown_choice', message: 'it is none of the choices' };
}
