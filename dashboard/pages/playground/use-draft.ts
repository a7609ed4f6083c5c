/** The draft of the page: as it was left, else as the address asks for it. */
import { useEffect, useLayoutEffect } from 'preact/hooks';
import { toFailure } from '../../client/resource.ts';
import { loadInputs, loadVersion } from '../../parts/prompts/load.ts';
import { bodiesOf, openRecord } from '../../parts/record/open-record.ts';
import type { Address } from '../../state/address.ts';
import { type LinkedColumn, readColumns } from './address.ts';
import { type Column, copyColumn, type Draft, emptyDraft, readDraft } from './draft.ts';
import { markLatest, nameInEntry, type PlaygroundState, writeEntry } from './state.ts';
import { inputText } from './write-call.ts';

const WRITE_AFTER_MS = 300;

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

export type ChangeDraft = (next: (draft: Draft) => Draft) => void;

/** Reads the draft of the address, unless there is one, and keeps what is changed. Returns the way to change it. */
export function useDraft(state: PlaygroundState, query: Address['query']): ChangeDraft {
  const { draft } = state;

  useLayoutEffect(() => nameInEntry(state), [state]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the page is made anew for another address
  useEffect(() => {
    if (draft.value !== null) return;
    const controller = new AbortController();
    loadDraft(query, controller.signal)
      .then((read) => {
        draft.value = read;
        markLatest(state);
      })
      .catch((error: unknown) => {
        if (controller.signal.aborted) return;
        state.failure = toFailure(error);
        draft.value = emptyDraft();
      });
    return () => controller.abort();
  }, [state]);

  const now = draft.value;
  // biome-ignore lint/correctness/useExhaustiveDependencies: each change waits anew
  useEffect(() => {
    const timer = setTimeout(() => writeEntry(state), WRITE_AFTER_MS);
    return () => clearTimeout(timer);
  }, [state, now]);

  useEffect(() => {
    const write = () => writeEntry(state);
    addEventListener('pagehide', write);
    return () => removeEventListener('pagehide', write);
  }, [state]);

  return (next) => {
    if (draft.value === null) return;
    state.isChanged = true;
    draft.value = next(draft.value);
    markLatest(state);
  };
}
