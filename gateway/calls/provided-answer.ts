/** The answer of the providers that a call is tried at. */
import type { Config } from '#core/config/mod.ts';

import type { SendRouted } from '../routing/mod.ts';
import type { Upstream } from '../upstream/mod.ts';
import type { Call } from './call.ts';
import type { Proposal } from './proposal.ts';
import type { AnswerHearing, Answering } from './relay.ts';
import { translatedAnswer } from './translated.ts';
import { refusalOf } from './whole-answer.ts';

/** What is sent to each route. */
export type Sending = {
  proposal: Proposal;
  /** Flat list of names and values. */
  headers: string[];
};

export type ProvidedByDependencies = {
  upstream: Upstream;
  sendRouted: SendRouted;
  config: Pick<Config, 'maxBodyBytes'>;
};

/**
 * What tries a call at its routes, in their order.
 * @param sendings at least one
 * @param retries how often each is tried again
 */
export function providedBy(
  call: Call,
  sendings: readonly Sending[],
  retries: number,
  { upstream, sendRouted, config }: ProvidedByDependencies,
): Answering {
  const hasSeveral = sendings.length > 1;
  const turnTo = (index: number): void => {
    const { route, hidesUsage } = sendings[index]!.proposal;
    call.route = route;
    call.hidesUsage = hidesUsage;
    if (hasSeveral) call.ownHeaders.push(['service-fallback-index', String(index)]);
    if (route.model !== call.body.model)
      call.ownHeaders.push(['service-routed-model', headerText(`${route.provider}/${route.model}`)]);
  };
  return ({ onStart, onFailure }) =>
    sendRouted(
      {
        routes: sendings.map(({ proposal }) => proposal.route),
        retries,
        tryRoute: (_route, index, hear) => trySending(call, sendings[index]!, upstream, hear),
        refuse: ({ row }, answer, body) => refusalOf(answer, body, row.label),
        maxHeldBytes: config.maxBodyBytes,
        onTried: (tried) => call.attempts.push(tried),
      },
      {
        onStart: (answer, index) => {
          turnTo(index);
          return onStart(answer);
        },
        onFailure: (error, index) => {
          turnTo(index);
          onFailure(error);
        },
      },
    );
}

/** What callers name a model by may be any text, and a header holds visible ASCII: all else is percent-encoded. */
function headerText(text: string): string {
  return text.toWellFormed().replace(/[^\x20-\x7e]/gu, encodeURIComponent);
}

function trySending(
  call: Call,
  { proposal, headers }: Sending,
  upstream: Upstream,
  { onStart, onFailure }: AnswerHearing,
): () => void {
  const { route, path, translation, body } = proposal;
  const { label } = route.row;
  const created = Math.floor(call.createdAtMs / 1_000);
  const abort = upstream.send({
    label,
    origin: route.origin,
    path,
    headers,
    body,
    onStart:
      translation === null
        ? onStart
        : (answer) =>
            translatedAnswer(answer, { translation, label, created, onStart, abort: () => abort() }),
    onFailure,
  });
  return abort;
}
