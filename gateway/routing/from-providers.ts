/** The answer of the providers that a call is tried at. */
import type { Config } from '#platform/config/mod.ts';
import type { AnswerSink, ProviderAnswer, Upstream } from '#platform/http-client/mod.ts';
import type { PreparedBody } from '../providers/prepare-request.ts';
import type { Call } from '../request/call.ts';
import type { AnswerHearing, Answering } from '../response/relay.ts';
import { knownIdHeaders } from '../response/reply.ts';
import { holdPossibleError } from '../response/told-answer.ts';
import { translatedAnswer } from '../response/translated.ts';
import { findInvalidBody } from '../response/validate-body.ts';
import type { SendRouted } from './mod.ts';

/** What is sent to each route. */
export type Sending = {
  proposal: PreparedBody;
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
  call.ownHeaders.push(...knownIdHeaders(call.id, call.surface.errors));
  const turnTo = (index: number): void => {
    const { route, hidesUsage } = sendings[index]!.proposal;
    call.route = route;
    call.hidesUsage = hidesUsage;
    if (hasSeveral) call.ownHeaders.push(['service-fallback-index', String(index)]);
    if (route.model !== call.body.model)
      call.ownHeaders.push(['service-routed-model', headerText(`${route.provider}/${route.model}`)]);
  };
  return ({ onStart, onFailure }) => {
    let latest: ProviderAnswer | null = null;
    return sendRouted(
      {
        routes: sendings.map(({ proposal }) => proposal.route),
        retries,
        tryRoute: (_route, index, hear) =>
          trySending(call, sendings[index]!, upstream, {
            onStart: (answer, status) => {
              latest = answer;
              return hear.onStart(status === answer.status ? answer : { ...answer, status });
            },
            onFailure: hear.onFailure,
          }),
        refuse: ({ row }, answer, body) => findInvalidBody(answer, body, row.label),
        maxHeldBytes: config.maxBodyBytes,
        onTried: (tried) => call.attempts.push(tried),
      },
      {
        // Whatever the routes were told of it, the client gets it as it came.
        onStart: (answer, index) => {
          turnTo(index);
          return onStart(latest ?? answer);
        },
        onFailure: (error, index) => {
          turnTo(index);
          onFailure(error);
        },
      },
    );
  };
}

type SendingHearing = {
  /** @param status what it counts as where it is decided what is tried next: an error may come as a success */
  onStart(answer: ProviderAnswer, status: number): AnswerSink;
  onFailure: AnswerHearing['onFailure'];
};

/** What callers name a model by may be any text, and a header holds visible ASCII: all else is percent-encoded. */
function headerText(text: string): string {
  return text.toWellFormed().replace(/[^\x20-\x7e]/gu, encodeURIComponent);
}

function trySending(
  call: Call,
  { proposal, headers }: Sending,
  upstream: Upstream,
  { onStart, onFailure }: SendingHearing,
): () => void {
  const { route, path, translation, body } = proposal;
  const { label } = route.row;
  const created = Math.floor(call.createdAtMs / 1_000);
  return upstream.send({
    label,
    organizationId: call.caller.organizationId,
    origin: route.origin,
    path,
    headers,
    body,
    onStart: (answer) =>
      holdPossibleError(answer, (status) => {
        if (translation === null) return onStart(answer, status);
        return translatedAnswer(
          { ...answer, status },
          { translation, label, created, onStart: (told) => onStart(told, status) },
        );
      }),
    onFailure,
  });
}
