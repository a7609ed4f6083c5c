/** Where the events of a Responses stream put what they bring, in the item at their `output_index`. */

export type Place = {
  /** What item it is in, for events of an item that never began. */
  item: string;
  /** The member that holds it, when it is not the item itself. */
  within?: string;
  /** The list of parts it is in, the name of the index in that, and the part that a text makes where none began. */
  list?: { name: string; index: string; part: Readonly<Record<string, unknown>> };
  /** The member that is the text; in a `done` event the same name has the whole text. */
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

/** Null for events that bring no part of an item. */
export function placeOf(type: string): Place | null {
  return PLACES.get(type.split('.', 2)[1]) ?? null;
}

/** What an event says of how far a call has come, such as `response.web_search_call.searching`; null when nothing. */
export function statusOf(type: string): string | null {
  return /^response\.(?:\w+_call|mcp_list_tools)\.(\w+)$/.exec(type)?.[1] ?? null;
}
