/** What is compared of each request. */
import type { ConversationPage, Message, Side } from '../../parts/conversation/model/types.ts';
import type { BodyReader } from '../../parts/record/body-methods.ts';
import { bodiesOf, openRecord } from '../../parts/record/open-record.ts';
import type { RecordHead } from '../../parts/record/record-protocol.ts';

export type Compared = {
  head: RecordHead;
  /** The text of each side, with a line for each role. */
  texts: Readonly<Record<Side, string>>;
  /** The body of each side; null: it is too long to be compared. */
  bodies: Readonly<Record<Side, unknown>>;
};

/** Requests that are compared at once. */
export const MOST = 4;
/** Messages whose texts are compared. */
const MESSAGES = 200;
/** UTF-16 code units of a body that is compared by its structure. */
const LONGEST_BODY = 256 * 1024;

function textOf({ role, parts }: Message): string {
  const texts = parts.map((part) => {
    if (part.kind === 'text' || part.kind === 'thinking' || part.kind === 'refusal') return part.text.text;
    return part.kind === 'tool-call' ? `[calls ${part.name}]` : `[${part.kind}]`;
  });
  return `${role}: ${texts.join('\n')}`;
}

/** Returns the texts of a conversation, one message below the other. */
function textOfPage({ messages }: Pick<ConversationPage, 'messages'>): string {
  return messages.map(textOf).join('\n\n');
}

async function readBody(ask: BodyReader, side: Side): Promise<unknown> {
  const text = await ask.copy([side]);
  return text === null || text.length > LONGEST_BODY ? null : (JSON.parse(text) as unknown);
}

async function loadOne(id: string, signal: AbortSignal): Promise<Compared> {
  const head = await openRecord(id, signal);
  const ask = bodiesOf(id, signal);
  const [asked, answered, request, response] = await Promise.all([
    ask.conversation('request', 0, MESSAGES),
    ask.conversation('response', 0, MESSAGES),
    readBody(ask, 'request'),
    readBody(ask, 'response'),
  ]);
  return {
    head,
    texts: { request: textOfPage(asked), response: textOfPage(answered) },
    bodies: { request, response },
  };
}

/** Loads the requests that are compared. */
export function loadCompared(ids: readonly string[], signal: AbortSignal): Promise<Compared[]> {
  return Promise.all(ids.map((id) => loadOne(id, signal)));
}

/** Reads `ids=` of the address. */
export function readIds(text: string | undefined): string[] {
  const ids = (text ?? '').split(',').filter((id) => id !== '');
  return [...new Set(ids)].slice(0, MOST);
}
