/** Extracts the answer from a judge's text: some servers leave thoughts and markers of the model's own format in it. */

const THOUGHT = /^\s*<(think|thinking|thought|reasoning)>/i;
const THOUGHT_END = /<\/(?:think|thinking|thought|reasoning)>/i;
/** A marker of gpt-oss's format, in which the last message is the answer. */
const CHANNEL_MESSAGE = '<|message|>';
const END_MARKS: readonly string[] = [
  '<|return|>',
  '<|end|>',
  '<|call|>',
  '<|im_end|>',
  '<|eot_id|>',
  '<|eom_id|>',
  '<|endoftext|>',
  '</s>',
];
/** Tool calls that a server did not recognize; the captured text is JSON. */
const TOOL_CALL_MARKS: readonly RegExp[] = [
  /^<tool_call>([\s\S]*?)<\/tool_call>$/i,
  /^<function=[\w.-]+>([\s\S]*?)<\/function>$/i,
  /^<\|python_tag\|>([\s\S]*)$/i,
  /^\[TOOL_CALLS\]\s*(?:[\w.-]+\s*\[ARGS\])?([\s\S]*)$/i,
];

/** Returns the answer in a text, without thoughts and markers, trimmed; empty when the text holds only thoughts. */
export function extractAnswer(text: string): string {
  let answer = withoutThoughts(text);
  const message = answer.lastIndexOf(CHANNEL_MESSAGE);
  if (message !== -1 && answer.includes('<|channel|>'))
    answer = answer.slice(message + CHANNEL_MESSAGE.length);
  answer = withoutEndMarks(answer.trim());
  for (const mark of TOOL_CALL_MARKS) {
    const within = mark.exec(answer)?.[1];
    if (within !== undefined) return within.trim();
  }
  return answer;
}

function withoutEndMarks(text: string): string {
  let left = text;
  for (;;) {
    const mark = END_MARKS.find((candidate) => left.endsWith(candidate));
    if (mark === undefined) return left;
    left = left.slice(0, -mark.length).trimEnd();
  }
}

function withoutThoughts(text: string): string {
  const begins = THOUGHT.test(text);
  // A JSON text may mention such tags; a text that begins with a thought cannot be JSON.
  if (!begins && /^\s*[{["]/.test(text)) return text;
  const end = THOUGHT_END.exec(text);
  if (end === null) return begins ? '' : text;
  // Some chat templates put the opening tag into the prompt, so that the answer has only the closing tag.
  return begins || !/<(?:think|thinking|thought|reasoning)>/i.test(text.slice(0, end.index))
    ? text.slice(end.index + end[0].length)
    : text;
}

const REFUSAL =
  /\b(?:i(?:['’]m| am)?\s+(?:can(?:not|['’]t| not)|could(?: not|n['’]t)|unable to|not able to|won['’]t|will not|must (?:decline|refuse)(?: to)?|(?:have to |must )?(?:respectfully )?(?:decline|refuse) to)\s+(?:\w+\s+){0,2}?(?:assist|help|comply|evaluate|judge|rate|score|provide|continue|engage|participate|fulfil|fulfill|answer|respond|process|review|do that|do this|discuss)\b)|\bagainst my (?:guidelines|policy|policies|programming)\b/i;
/** Characters searched for a refusal: judges refuse at the beginning of their answer. */
const REFUSAL_WITHIN = 300;

/** Returns whether a text without a verdict declines to give one. */
export function isRefusal(answer: string): boolean {
  return REFUSAL.test(answer.slice(0, REFUSAL_WITHIN));
}
