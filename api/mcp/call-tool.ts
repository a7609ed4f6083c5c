/** Calls the route behind a tool, and returns a part of its answer that fits into a model's context. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import { innerRequest } from '#platform/http-server/mod.ts';
import { type ApiTool, CURSOR } from './tools.ts';

/** Bytes of one part: some 10,000 tokens of JSON, which every model takes. */
const PART_BYTES = 40_000;

/** Deeper than any real argument, and far from what JSON.stringify has no stack for. */
const MAX_DEPTH = 1_000;

/** Sends a request to the routes of this process. */
export type Dispatch = (request: Request) => Promise<Response>;

/** The client: the text of its key, by which the routes decide, and whether it is still there. */
export type Caller = { token: string; signal: AbortSignal };

type Arguments = Readonly<Record<string, unknown>>;

/**
 * Calls a tool. The route checks the arguments as it checks any body; its refusals come back as errors that the model can
 * read and mend.
 */
export async function callTool(
  tool: ApiTool,
  given: Arguments,
  caller: Caller,
  dispatch: Dispatch,
): Promise<CallToolResult> {
  const { [CURSOR]: cursor = '0', ...rest } = given;
  const from = readCursor(cursor);
  if (from === null) return failure(`The argument ${CURSOR} must come from the end of a cut answer`);
  if (isDeep(rest, MAX_DEPTH)) return failure(`The arguments are nested deeper than ${MAX_DEPTH} levels`);
  const wanted = requestOf(tool, rest);
  if (typeof wanted === 'string') return failure(wanted);
  const { target, body } = wanted;
  const rawHeaders = ['authorization', `Bearer ${caller.token}`];
  if (body !== null) rawHeaders.push('content-type', 'application/json');
  const response = await dispatch(
    innerRequest({ method: tool.method, target, rawHeaders, body }, { signal: caller.signal }),
  );
  const { text, next } = await readPart(response, from);
  const content: CallToolResult['content'] = [{ type: 'text', text }];
  if (next !== null) {
    const hint = `The answer goes on: call the tool again with the same arguments and "${CURSOR}": "${next}".`;
    content.push({ type: 'text', text: hint });
  }
  return { content, isError: response.status !== 200 };
}

function failure(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}

/** Returns the byte that an answer goes on from; null when the cursor is none of ours. */
function readCursor(cursor: unknown): number | null {
  return typeof cursor === 'string' && /^\d{1,15}$/.test(cursor) ? Number(cursor) : null;
}

/** Puts arguments where the route takes them; a sentence when one has no place. */
function requestOf(tool: ApiTool, given: Arguments): { target: string; body: Buffer | null } | string {
  const rest = new Map(Object.entries(given));
  let target = tool.path;
  for (const name of tool.pathNames) {
    const value = rest.get(name);
    if (typeof value !== 'string' || value === '' || !value.isWellFormed()) {
      return `The argument ${name} must be a text`;
    }
    target = target.replace(`{${name}}`, encodeURIComponent(value));
    rest.delete(name);
  }
  const query = new URLSearchParams();
  for (const name of tool.queryNames) {
    if (rest.has(name)) query.set(name, String(rest.get(name)));
    rest.delete(name);
  }
  if (query.size > 0) target += `?${query}`;
  if (tool.body === 'members') return { target, body: jsonOf(Object.fromEntries(rest)) };
  const body = tool.body === 'whole' && rest.has('body') ? jsonOf(rest.get('body')) : null;
  if (tool.body === 'whole') rest.delete('body');
  const [unknown] = rest.keys();
  if (unknown !== undefined) return `The tool ${tool.name} has no argument ${JSON.stringify(unknown)}`;
  return { target, body };
}

/** Returns whether a value is nested deeper than so many levels. */
function isDeep(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((item) => isDeep(item, levels - 1));
}

function jsonOf(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}

/** Reads one part of an answer, and no more of it: a page may have gigabytes. `next` is the byte that the rest begins at. */
async function readPart(response: Response, from: number): Promise<{ text: string; next: string | null }> {
  const pieces: Uint8Array[] = [];
  let passed = 0;
  let held = 0;
  const reader = response.body?.getReader();
  while (reader !== undefined && held <= PART_BYTES) {
    const { done, value } = await reader.read();
    if (done) break;
    const piece = value.subarray(Math.min(value.length, Math.max(0, from - passed)));
    passed += value.length;
    held += piece.length;
    pieces.push(piece);
  }
  await reader?.cancel();
  const bytes = Buffer.concat(pieces);
  if (bytes.length <= PART_BYTES) return { text: bytes.toString('utf8'), next: null };
  const end = characterStart(bytes, PART_BYTES);
  return { text: bytes.toString('utf8', 0, end), next: String(from + end) };
}

/** Returns the start of the UTF-8 character that the byte at `at` is part of. */
function characterStart(bytes: Buffer, at: number): number {
  let start = at;
  while (start > 0 && (bytes[start]! & 0xc0) === 0x80) start -= 1;
  return start;
}
