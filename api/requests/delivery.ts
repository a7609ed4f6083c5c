/** The delivery of a response: the attempts at providers or the cache it came from, and its usage as far as it is known. */
import { type Static, Type } from '@sinclair/typebox';
import { NOT_TRIED } from '#core/contracts/errors.ts';
import { closed, Nullable } from '#core/contracts/shapes.ts';
import { Parameters, type Statement } from '#core/filter/mod.ts';
import { keyCondition, type RequestKey } from './find-keys.ts';

const Text = Nullable(Type.String());

const Attempt = Type.Object(
  {
    provider: Type.String(),
    model: Type.String({ description: 'As the provider was asked for it' }),
    status: Type.Integer(),
    error_code: Text,
    latency_ms: Nullable(Type.Integer()),
  },
  closed,
);
type Attempt = Static<typeof Attempt>;

export const Delivery = Type.Object(
  {
    request_id: Type.String(),
    api_key_id: Nullable(Type.String(), 'The API key that made the call'),
    cached_from: Nullable(Type.String(), 'The request whose stored response this one got'),
    attempts: Type.Array(Attempt),
    usage_estimated: Type.Boolean({
      description: 'The tokens were counted here, as the provider did not say',
    }),
    price_source: Text,
    error_code: Text,
    truncated: Type.Boolean(),
    stream: Type.Boolean(),
  },
  { ...closed, $id: 'Delivery' },
);
export type Delivery = Static<typeof Delivery>;

/** A row of `deliveryStatement`; jsonb comes as its text. */
export type DeliveryRow = {
  request_id: string;
  api_key_id: string | null;
  provider: string;
  /** As requested; null for some requests made elsewhere. */
  request_model: string | null;
  /** The model that responded, else the requested one. */
  model: string;
  status: number;
  error_code: string | null;
  latency_ms: number | null;
  cached_from: string | null;
  attempts: string | null;
  usage_estimated: boolean;
  price_source: string | null;
  truncated: boolean;
  is_stream: boolean;
};

/** Selects the delivery of the request with this key: a row, or none. */
export function deliveryStatement(organizationId: string, key: RequestKey): Statement {
  const parameters = new Parameters();
  return {
    text:
      'select request_id, api_key_id, provider, request_model, model, status, error_code, latency_ms, cached_from, attempts::text, ' +
      'usage_estimated, price_source, truncated, is_stream from assay.requests ' +
      `where ${keyCondition(parameters, organizationId, key)}`,
    values: parameters.values,
  };
}

function attemptsOf(row: DeliveryRow): Attempt[] {
  if (row.attempts !== null) return (JSON.parse(row.attempts) as Attempt[]).map(attempt);
  if (row.cached_from !== null || NOT_TRIED.has(row.error_code ?? '')) return [];
  // The only attempt: for the requested model, and with the result of the request itself.
  return [attempt({ ...row, model: row.request_model ?? row.model })];
}

function attempt({ provider, model, status, error_code, latency_ms }: Attempt): Attempt {
  return { provider, model, status, error_code, latency_ms };
}

/** Returns the delivery that a row describes. */
export function deliveryOf(row: DeliveryRow): Delivery {
  return {
    request_id: row.request_id,
    api_key_id: row.api_key_id,
    cached_from: row.cached_from,
    attempts: attemptsOf(row),
    usage_estimated: row.usage_estimated,
    price_source: row.price_source,
    error_code: row.error_code,
    truncated: row.truncated,
    stream: row.is_stream,
  };
}
