/**
 * What the playground holds, in the memory of the page: drafts and answers are there again after a look at another page. The entry
 * of the history names its state; an address that asks for nothing gets the one that was used last.
 */
import { type Signal, signal } from '@preact/signals';
import { parseExactJson } from '#core/json-values/mod.ts';
import type { ApiFailure } from '../../client/call.ts';
import { Memory, whenForgotten } from '../../client/recent.ts';
import { type Address, addressNow, href } from '../../state/address.ts';
import { identity } from '../../state/me.ts';
import { addressOf } from './address.ts';
import type { Draft } from './draft.ts';
import type { Run } from './run.ts';

export const PATH = '/playground';

export type PlaygroundState = {
  key: string;
  /** Null: it is still read. */
  draft: Signal<Draft | null>;
  /** Why the request of the address cannot be replayed. */
  failure: ApiFailure | null;
  /** Whether the draft is another one than that of the address. */
  isChanged: boolean;
  /** By the column's key. */
  runs: Signal<Readonly<Record<string, Run>>>;
  /** Of the newest call of each column. */
  controllers: Map<string, AbortController>;
};

/** Of the history: drafts outlive a reload there, answers do not. */
type Entry = { state?: string; login?: string; playground?: string | null };

const MOST = 10;
/** UTF-16 code units that an entry of the history can hold in every browser. */
const LONGEST_ENTRY = 500_000;

const states = new Memory<PlaygroundState>(MOST);
let latest: PlaygroundState | null = null;
let made = 0;
let login = new AbortController();

whenForgotten(() => {
  latest = null;
  login.abort();
  login = new AbortController();
  if (addressNow().path === PATH) history.replaceState(null, '');
});

/** Is aborted when the log-in ends. */
export function loginSignal(): AbortSignal {
  return login.signal;
}

/** Names the log-in: an entry of the history stays when it ends. */
function loginName(): string {
  if (identity.value.kind !== 'signed-in') return '';
  const { session, key } = identity.value.me;
  return session?.id ?? key.id;
}

function readEntry(): Entry {
  const entry = (history.state ?? {}) as Entry;
  return entry.login === loginName() ? entry : {};
}

function createState(draft: Draft | null): PlaygroundState {
  made += 1;
  return {
    // Of another page load, a number alone would be taken for one of this.
    key: `${performance.timeOrigin}-${made}`,
    draft: signal(draft),
    failure: null,
    isChanged: draft !== null,
    runs: signal({}),
    controllers: new Map(),
  };
}

/** Has an address that asks for nothing lead to this state. */
export function markLatest(state: PlaygroundState): void {
  latest = state;
}

/** Has the next address that asks for nothing lead to an empty draft. */
export function startAnew(): void {
  latest = null;
}

/** Returns the state of the history's entry, else the latest one for an address that asks for nothing, else a new one. */
export function openState(query: Address['query']): PlaygroundState {
  const { state: key = '', playground = null } = readEntry();
  const kept = states.get(key);
  if (kept !== null) return kept;
  if (playground === null && latest !== null && Object.keys(query).length === 0) {
    // The address is to name what is shown.
    latest.isChanged = true;
    return latest;
  }
  return createState(playground === null ? null : (parseExactJson(playground) as Draft));
}

/** Names the state in the entry of the history, for the way back. */
export function nameInEntry(state: PlaygroundState): void {
  states.put(state.key, state);
  const entry: Entry = { ...readEntry(), state: state.key, login: loginName() };
  history.replaceState(entry, '');
}

/** Writes the draft into the entry and the address, past the router, which would take it for another page. */
export function writeEntry({ key, draft: { value: draft }, isChanged }: PlaygroundState): void {
  // After a click on a link, the entry is another page's already.
  if (draft === null || !isChanged || addressNow().path !== PATH) return;
  const text = JSON.stringify(draft);
  const playground = text.length > LONGEST_ENTRY ? null : text;
  const entry: Entry = { state: key, login: loginName(), playground };
  history.replaceState(entry, '', href(PATH, addressOf(draft)));
}
