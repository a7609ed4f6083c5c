/**
 * What the page holds, kept in the entry of the history: the way back and a reload find it as it was. The address names the
 * request, the models and the prompts, for a link. Both are written past the router, which would take it for another page.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import { parseExactJson } from '#core/json-values/mod.ts';
import type { ApiFailure } from '../../client/call.ts';
import { toFailure } from '../../client/resource.ts';
import { loadInputs, loadVersion } from '../../parts/prompts/load.ts';
import { bodiesOf, openRecord } from '../../parts/record/open-record.ts';
import { type Address, href } from '../../state/address.ts';
import { addressOf, type LinkedColumn, readColumns } from './address.ts';
import { type Column, copyColumn, type Draft, emptyDraft, readDraft } from './draft.ts';
import { inputText } from './write-call.ts';

/** UTF-16 code units that an entry of the history can hold in every browser. */
const LONGEST_STATE = 500_000;
const WRITE_AFTER_MS = 300;

type Entry = { playground?: unknown };

function readEntry(): Draft | null {
  const { playground } = (history.state ?? {}) as Entry;
  return typeof playground === 'string' ? (parseExactJson(playground) as Draft) : null;
}

function writeEntry(draft: Draft): void {
  const text = JSON.stringify(draft);
  const state = { playground: text.length > LONGEST_STATE ? null : text };
  history.replaceState(state, '', href(location.pathname, addressOf(draft)));
}

async function readLinked(base: Column, linked: LinkedColumn, signal: AbortSignal): Promise<Column> {
  const { model = base.model, prompt: promptId, version = '', inputs: requestId, used = version } = linked;
  if (promptId === undefined) return { ...base, model };
  const stored = requestId === undefined ? {} : await loadInputs(promptId, used, requestId, signal);
  const inputs = Object.fromEntries(Object.entries(stored).map(([name, value]) => [name, inputText(value)]));
  return { ...base, model, prompt: { promptId, versionId: version, inputs } };
}

async function readRecord(requestId: string, signal: AbortSignal): Promise<Draft> {
  const head = await openRecord(requestId, signal);
  const text = await bodiesOf(requestId, signal).copy(['request']);
  return readDraft(requestId, head.request_path, text);
}

/** Returns the messages that a call added to those of its prompt: the record has all of them. */
async function readAdded({ inputs, version = '', used = version }: LinkedColumn, signal: AbortSignal) {
  if (inputs === undefined) return [];
  const [record, { prompt_body: stored }] = await Promise.all([
    readRecord(inputs, signal),
    loadVersion(used, signal),
  ]);
  const { messages } = stored;
  const own = Array.isArray(messages) ? messages.length : 0;
  // The other dialects put the prompt's messages elsewhere.
  return record.dialect === 'chat' ? record.talk.messages.slice(own) : [];
}

/** Reads what a link asks for. */
async function loadDraft(query: Address['query'], signal: AbortSignal): Promise<Draft> {
  const linked = readColumns(query);
  let draft = emptyDraft();
  const called = linked.find(({ prompt }) => prompt !== undefined);
  if (query.from !== undefined && query.from !== '') draft = await readRecord(query.from, signal);
  // A prompt may say all that there is to say.
  else if (called !== undefined)
    draft = { ...draft, talk: { messages: await readAdded(called, signal), tools: '' } };
  const base = draft.columns[0]!;
  const columns = await Promise.all(
    linked.map((one, index) =>
      readLinked(index === 0 ? base : copyColumn(draft.dialect, base, base.model), one, signal),
    ),
  );
  return columns.length === 0 ? draft : { ...draft, columns };
}

export type DraftHolder = {
  /** Null: it is still read. */
  draft: Draft | null;
  /** Why the request of the address cannot be replayed. */
  failure: ApiFailure | null;
  change: (next: (draft: Draft) => Draft) => void;
};

/** Returns the draft of the address, and the way to change it. */
export function useDraft(query: Address['query']): DraftHolder {
  const [draft, setDraft] = useState<Draft | null>(readEntry);
  const [failure, setFailure] = useState<ApiFailure | null>(null);
  const latest = useRef(draft);
  latest.current = draft;
  const isChanged = useRef(false);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the page is made anew for another address
  useEffect(() => {
    if (draft !== null) return;
    const controller = new AbortController();
    loadDraft(query, controller.signal)
      .then(setDraft)
      .catch((error: unknown) => {
        if (controller.signal.aborted) return;
        setFailure(toFailure(error));
        setDraft(emptyDraft());
      });
    return () => controller.abort();
  }, []);

  useEffect(() => {
    if (draft === null || !isChanged.current) return;
    const timer = setTimeout(() => writeEntry(draft), WRITE_AFTER_MS);
    return () => clearTimeout(timer);
  }, [draft]);

  useEffect(() => {
    const { pathname } = location;
    const write = () => {
      // After a click on a link, the entry is another page's already.
      if (isChanged.current && latest.current !== null && location.pathname === pathname)
        writeEntry(latest.current);
    };
    addEventListener('pagehide', write);
    return () => removeEventListener('pagehide', write);
  }, []);

  const change: DraftHolder['change'] = (next) => {
    isChanged.current = true;
    setDraft((before) => (before === null ? null : next(before)));
  };
  return { draft, failure, change };
}
