/** A session, and as many pages of its tree as were asked for. */
import { useState } from 'preact/hooks';
import type { SessionNode, SessionRow, SessionTree } from '#core/contracts/session.ts';
import { call } from '../../client/call.ts';
import { type Resource, useResource } from '../../client/resource.ts';
import { joinNodes } from './tree.ts';

export type LoadedSession = { session: SessionRow; tree: SessionNode; isWhole: boolean };

/** Returns the address of a session in the API. */
export function apiPath(id: string): string {
  return `/v1/session/${encodeURIComponent(id)}`;
}

async function loadPages(id: string, pages: number, signal: AbortSignal): Promise<LoadedSession> {
  const path = apiPath(id);
  let answer = await call<SessionTree>('GET', path, undefined, signal);
  let { tree } = answer;
  for (let page = 1; page < pages && answer.next !== null; page += 1) {
    answer = await call<SessionTree>(
      'GET',
      `${path}?after=${encodeURIComponent(answer.next)}`,
      undefined,
      signal,
    );
    tree = joinNodes(tree, answer.tree);
  }
  return { session: answer.session, tree, isWhole: answer.next === null };
}

/** Loads a session; `more` loads the next page of its tree as well. */
export function useSession(id: string): Resource<LoadedSession> & { more: () => void } {
  const [asked, setAsked] = useState({ id, pages: 1 });
  const pages = asked.id === id ? asked.pages : 1;
  const resource = useResource(`session ${pages} ${id}`, (signal) => loadPages(id, pages, signal));
  return { ...resource, more: () => setAsked({ id, pages: pages + 1 }) };
}
