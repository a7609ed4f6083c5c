/** The subject of evaluators of sessions: the requests of a session up to one of them, of each only what is new. */
import { type Spoken, spokenMessage } from '../chat/mod.ts';
import { countSeen, type Shown, saidIn } from '../sessions/mod.ts';

/** A request of a session as it is stored. */
export type StoredTurn = {
  requestId: string;
  path: string | null;
  /** ISO 8601. */
  createdAt: string;
  /** 0: the end of the call is not known. */
  status: number;
  model: string | null;
  /** JSON texts; null: the bodies were left out, because the session is too large. */
  requestText: string | null;
  responseText: string | null;
};

/** A session as it is stored, its turns from the oldest to the one that is evaluated. */
export type StoredSession = {
  id: string;
  name: string | null;
  /** Earlier requests of the session were left out, because it has too many. */
  isCut: boolean;
  turns: StoredTurn[];
};

/** One message of a session. `path` is there for requests that name one. */
type SessionMessage = { path?: string } & Spoken;

/** A session as evaluators see it. */
export type SubjectSession = {
  id: string;
  name: string | null;
  /** Something of the session was left out. */
  is_cut: boolean;
  /** Every message once, in order: what a judge reads as `{{conversation}}`. */
  conversation: SessionMessage[];
  /** The requests, of each the messages that none before it had. */
  turns: {
    request_id: string;
    path: string | null;
    created_at: string;
    status: number;
    model: string | null;
    messages: unknown[];
    answer: unknown;
  }[];
};

/** Earlier turns of a path that a turn is compared with: enough for several branches of a conversation at once. */
const COMPARED = 8;

type ReadTurn = SubjectSession['turns'][number] & { shown: Shown; isLeftOut: boolean };

/** Reads a session. Never throws, whatever the bodies hold. */
export function readSession({ id, name, isCut, turns: stored }: StoredSession): SubjectSession {
  const turns: ReadTurn[] = [];
  for (const turn of stored) turns.push(readTurn(turn, turns));
  const conversation = turns.flatMap(messagesOfTurn);
  if (isCut)
    conversation.unshift({ role: 'note', text: '[earlier requests of the session are left out here]' });
  return {
    id,
    name,
    is_cut: isCut || turns.some(({ isLeftOut }) => isLeftOut),
    conversation,
    turns: turns.map(({ shown: _shown, isLeftOut: _isLeftOut, ...turn }) => turn),
  };
}

function readTurn(turn: StoredTurn, before: readonly ReadTurn[]): ReadTurn {
  const { requestText, responseText } = turn;
  const { messages, answer, shown } = saidIn(requestText, responseText);
  const earlier = before.filter(({ path }) => path === turn.path).slice(-COMPARED);
  const seen = countSeen(
    messages,
    earlier.map((one) => one.shown),
  );
  return {
    request_id: turn.requestId,
    path: turn.path,
    created_at: turn.createdAt,
    status: turn.status,
    model: turn.model,
    messages: messages.slice(seen),
    answer,
    shown,
    isLeftOut: requestText === null || responseText === null,
  };
}

function messagesOfTurn({ path, messages, answer, status, isLeftOut }: ReadTurn): SessionMessage[] {
  const answers = Array.isArray(answer) ? (answer as unknown[]) : answer === null ? [] : [answer];
  const spoken = [...messages, ...answers].map(spokenMessage);
  if (isLeftOut) spoken.push({ role: 'note', text: '[the messages of this request are left out here]' });
  else if (status < 200 || status >= 300)
    spoken.push({ role: 'note', text: `[the call ended with status ${status}]` });
  return spoken.map((one) => (path === null ? one : { path, ...one }));
}

/** Characters: some hundred pages, of which the newest count most. */
const MAX_TRANSCRIPT_CHARACTERS = 200_000;

/** Writes a conversation for readers, and for code that takes texts alone. Of a long one, the end. */
export function transcriptOf(conversation: readonly SessionMessage[]): string {
  const text = conversation
    .map(({ path, role, text }) => `${path === undefined ? '' : `${path} `}${role}: ${text}`)
    .join('\n\n');
  if (text.length <= MAX_TRANSCRIPT_CHARACTERS) return text;
  return `[the beginning is left out here]\n\n${text.slice(-MAX_TRANSCRIPT_CHARACTERS).toWellFormed()}`;
}
