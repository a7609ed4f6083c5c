/** The places of a Responses stream's texts, in the item at the event's `output_index`. */

/** The place of a text in an item. */
export type Place = {
  /** The type of its item, for events of an item that was never added. */
  item: string;
  /** The member of the item that holds the text; absent: the item itself. */
  within?: string;
  /** The list of parts, the event's member with the index in it, and the part to make for a text without one. */
  list?: { name: string; index: string; part: Readonly<Record<string, unknown>> };
  /** The name of the text; a `done` event has the whole text by the same name. */
  text: string;
  /** The parts are texts themselves, not objects with one. */
  areBare?: true;
};

const CONTENT = { name: 'content', index: 'content_index' };
const SUMMARY = { name: 'summary', index: 'summary_index' };

/** By the second word of an event's type: `response.<word>.delta`, `.done` or `.added`. */
const PLACES: ReadonlyMap<string | undefined, Place> = new Map<string, Place>([
  ['output_text', { item: 'message', list: { ...CONTENT, part: { type: 'output_text' } }, text: 'text' }],
  ['refusal', { item: 'message', list: { ...CONTENT, part: { type: 'refusal' } }, text: 'refusal' }],
  ['content_part', { item: 'message', list: { ...CONTENT, part: {} }, text: 'text' }],
  [
    'reasoning_text',
    { item: 'reasoning', list: { ...CONTENT, part: { type: 'reasoning_text' } }, text: 'text' },
  ],
  [
    'reasoning_summary_text',
    { item: 'reasoning', list: { ...SUMMARY, part: { type: 'summary_text' } }, text: 'text' },
  ],
  [
    'reasoning_summary_part',
    { item: 'reasoning', list: { ...SUMMARY, part: { type: 'summary_text' } }, text: 'text' },
  ],
  ['function_call_arguments', { item: 'function_call', text: 'arguments' }],
  ['custom_tool_call_input', { item: 'custom_tool_call', text: 'input' }],
  ['mcp_call_arguments', { item: 'mcp_call', text: 'arguments' }],
  ['code_interpreter_call_code', { item: 'code_interpreter_call', text: 'code' }],
  ['apply_patch_call_operation_diff', { item: 'apply_patch_call', within: 'operation', text: 'diff' }],
  [
    'shell_call_command',
    {
      item: 'shell_call',
      within: 'action',
      list: { name: 'commands', index: 'command_index', part: {} },
      text: 'command',
      areBare: true,
    },
  ],
]);

/** Returns the place of an event's text; null for events that carry no part of an item. */
export function placeOf(type: string): Place | null {
  return PLACES.get(type.split('.', 2)[1]) ?? null;
}

/** Returns the status of a call in an event's type, such as `response.web_search_call.searching`; null when it has none. */
export function statusOf(type: string): string | null {
  return /^response\.(?:\w+_call|mcp_list_tools)\.(\w+)$/.exec(type)?.[1] ?? null;
}
