import { Elysia } from 'elysia';
import { ModelsJson, PlaygroundBody } from '#core/contracts/playground.ts';
import type { ModelService } from '../models/mod.ts';
import type { Playground } from '../playground/mod.ts';
import { authorized, type Keys } from './access.ts';
import { foreignReply, jsonBodyAsWritten, reply } from './declare.ts';

export type PlaygroundRoutesOptions = {
  keys: Keys;
  playground: Pick<Playground, 'call'>;
  models: ModelService;
  /** Limit of a call's body, as the gateway's. */
  maxBodyBytes: number;
};

const TAG = 'Playground';
const EXAMPLE: PlaygroundBody = {
  body: { model: 'gpt-4o-mini', stream: true, messages: [{ role: 'user', content: 'Hello' }] },
  properties: { Draft: 'refund-2' },
};

/** `/v1/playground`: calls of the dashboard, and `/v1/model`: the models that they can use. */
export function playgroundRoutes({ keys, playground, models, maxBodyBytes }: PlaygroundRoutesOptions) {
  const reading = authorized(keys, 'read', TAG).get(
    '/v1/model',
    ({ key }) => models.list(key.organizationId, key.allowed),
    {
      response: reply(ModelsJson),
      detail: { summary: 'Lists the models that calls with this key can use, with their prices' },
    },
  );
  const calling = authorized(keys, 'gateway', TAG).post(
    '/v1/playground',
    async ({ key, body: { body, written }, request: { signal } }) =>
      playground.call({
        organizationId: key.organizationId,
        keyId: key.keyId,
        body,
        written: written[0]!,
        signal,
      }),
    {
      body: jsonBodyAsWritten(PlaygroundBody, EXAMPLE, { maxBytes: maxBodyBytes, asWritten: [['body']] }),
      response: foreignReply(),
      detail: {
        summary: 'Makes a call through the gateway with this key, which is logged with the source playground',
        responses: {
          200: { description: "The gateway's response, streamed as it arrives" },
        },
      },
    },
  );
  return new Elysia({ name: 'api/playground' }).use(reading).use(calling);
}
