/**
 * The verdict in what a judge has said. In order: the tool that it was to call; a text that is JSON; one JSON object in a
 * code fence or on the last line; a last line that is the score and nothing else; of choices, a last sentence that is a
 * label and nothing else. Two verdicts are none.
 */
import { isObject, type JsonObject, storableJson, textOrNull } from '#core/json/mod.ts';
import { readLastLine, readLastSentence } from './closing-words.ts';
import type { Said, ToolCall } from './completion.ts';
import { findObjects } from './objects.ts';
import { isProblem, type Problem, readScore, type Scored } from './read-score.ts';
import { TOOL_NAME } from './request.ts';
import type { Scale } from './scale.ts';
import { answerIn, isRefusal } from './text.ts';

/** Where a verdict was found. */
export type Parse = 'tool_call' | 'json' | 'fenced_json' | 'text';

export type Verdict = Scored & { reasoning: string | null; parse: Parse };
export type NoVerdict = Problem | { code: 'judge_refused'; message: string };

/** Nobody reasons at such length; what does is not searched. */
const MAX_TEXT_CHARACTERS = 65_536;

export function hasVerdict(reading: Verdict | NoVerdict): reading is Verdict {
  return 'parse' in reading;
}

/** Reads the verdict. */
export function readVerdict(said: Said, scale: Scale): Verdict | NoVerdict {
  if (said.refusal !== null) return { code: 'judge_refused', message: 'it refuses to judge' };
  const calls = said.toolCalls.filter(({ name }) => isOurTool(name));
  if (calls.length > 0) return fromToolCalls(calls, said.text, scale);
  return fromText(answerIn(said.text), scale);
}

/** Some servers write the name with its namespace before it or an index behind it. */
function isOurTool(name: string): boolean {
  return name.replace(/^(?:functions?|tools?|default_api)[.:/]/, '').replace(/:\d+$/, '') === TOOL_NAME;
}

function malformed(message: string): Problem {
  return { code: 'judge_malformed', message };
}

/** The same verdict called twice is one. */
function fromToolCalls(calls: readonly ToolCall[], text: string, scale: Scale): Verdict | NoVerdict {
  const [first, ...others] = calls.map((call) => fromArguments(call.arguments, scale));
  if (first === undefined || !hasVerdict(first)) return first ?? malformed('it calls no tool');
  const differs = others.some(
    (other) => !hasVerdict(other) || other.score !== first.score || other.label !== first.label,
  );
  if (differs) return malformed('it gives more than one verdict');
  return { ...first, reasoning: first.reasoning ?? nullIfBlank(answerIn(text)) };
}

function fromArguments(given: unknown, scale: Scale): Verdict | NoVerdict {
  // What came as an object was parsed long before: repeated members are gone.
  if (isObject(given)) return fromObject(given, '', 'tool_call', scale);
  if (typeof given !== 'string') return malformed('the arguments of its call are not an object');
  if (given.trim() === '') return fromObject({}, '{}', 'tool_call', scale);
  const value = parseJson(given);
  // Some servers write the arguments out twice.
  const inner = typeof value === 'string' ? parseJson(value) : value;
  if (!isObject(inner)) return malformed('the arguments of its call are not a JSON object');
  return fromObject(inner, typeof value === 'string' ? value : given, 'tool_call', scale);
}

/** undefined when the text is not JSON. Python's servers write NaN and Infinity, which JSON has no words for. */
function parseJson(text: string): unknown {
  for (const candidate of [text, text.replace(/("score"\s*:\s*)([+-]?(?:NaN|Infinity))\b/, '$1"$2"')]) {
    try {
      return JSON.parse(candidate) as unknown;
    } catch {}
  }
  return undefined;
}

/** @param text the object as written: parsed, a repeated member would have lost all but its last value */
function fromObject(value: JsonObject, text: string, parse: Parse, scale: Scale): Verdict | NoVerdict {
  if ((text.match(/(?<!\\)"score"\s*:/g)?.length ?? 0) > 1) return malformed('it gives more than one score');
  const scored = readScore(Object.hasOwn(value, 'score') ? value.score : undefined, scale);
  if (isProblem(scored)) return scored;
  return { ...scored, reasoning: reasoningOf(value.reasoning), parse };
}

function reasoningOf(value: unknown): string | null {
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
  const call = calledIn(whole);
  if (call !== null) return fromArguments(call.arguments, scale);
  if (isObject(whole)) return fromObject(whole, text, 'json', scale);
  if (Array.isArray(whole)) return malformed('it is a list');
  return fromProse(text, scale);
}

/** A call of our tool that a server has left as text: its JSON, alone or in a list of one. */
function calledIn(value: unknown): ToolCall | null {
  const item: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
  if (!isObject(item)) return null;
  const called = isObject(item.function) ? item.function : item;
  const name = textOrNull(called.name);
  const given = called.arguments ?? called.parameters ?? called.input;
  return name !== null && given !== undefined && isOurTool(name) ? { name, arguments: given } : null;
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
    return isProblem(line) ? line : { ...line, parse: 'text' };
  }
  if (only !== undefined && only.place !== 'within' && (line === null || only.place === 'last')) {
    const { reading, place } = only;
    return hasVerdict(reading) ? { ...reading, parse: place === 'fenced' ? 'fenced_json' : 'text' } : reading;
  }
  if (isRefusal(text)) return { code: 'judge_refused', message: 'it refuses to judge' };
  const sentence = readings.length === 0 ? readLastSentence(text, scale) : null;
  if (sentence !== null) return { ...sentence, parse: 'text' };
  return shortAnswer(text, scale) ?? malformed('it holds no verdict in the form asked for');
}

function fromCalledOrObject(value: JsonObject, text: string, scale: Scale): Verdict | NoVerdict {
  const call = calledIn(value);
  return call === null ? fromObject(value, text, 'json', scale) : fromArguments(call.arguments, scale);
}

const SHORT_ANSWER = 100;

/** One line of a few words, where a choice was to be made, is a choice that does not exist. */
function shortAnswer(text: string, scale: Scale): Problem | null {
  if (scale.kind !== 'choice' || text.length > SHORT_ANSWER || text.includes('\n') || text.includes('{'))
    return null;
  return { code: 'judge_unknown_choice', message: 'it is none of the choices' };
}
