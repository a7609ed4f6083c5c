/** How an answer came about: by which tries at which providers, or from which stored answer; and what is known of its tokens. */
import { NOT_TRIED } from '#core/contracts/errors.ts';
import { Parameters, type Statement } from '#core/filter/mod.ts';

/** A row of `deliveryStatement`; jsonb comes as its text. */
export type DeliveryRow = {
  request_id: string;
  provider: string;
  /** What was asked for; null for some requests made elsewhere. */
  request_model: string | null;
  /** What answered, or else was asked for. */
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

/** A try; its model is the one that the provider was asked for, as the provider calls it. */
type Attempt = Pick<DeliveryRow, 'provider' | 'model' | 'status' | 'error_code' | 'latency_ms'>;

/** What is known of the request with this id: a row, or none. */
export function deliveryStatement(organizationId: string, requestId: string): Statement {
  const parameters = new Parameters();
  const organization = parameters.bind(organizationId, 'uuid');
  return {
    text:
      'select request_id, provider, request_model, model, status, error_code, latency_ms, cached_from, attempts::text, ' +
      'usage_estimated, price_source, truncated, is_stream from assay.requests ' +
      `where organization_id = ${organization} and request_id = ${parameters.bind(requestId, 'text')} ` +
      'order by created_at desc limit 1',
    values: parameters.values,
  };
}

function attemptsOf(row: DeliveryRow): Attempt[] {
  if (row.attempts !== null) return (JSON.parse(row.attempts) as Attempt[]).map(attempt);
  if (row.cached_from !== null || NOT_TRIED.has(row.error_code ?? '')) return [];
  // There was one, of the model that was asked for, and the record itself says how it went.
  return [attempt({ ...row, model: row.request_model ?? row.model })];
}

function attempt({ provider, model, status, error_code, latency_ms }: Attempt): Attempt {
  return { provider, model, status, error_code, latency_ms };
}

/** As JSON. */
export function deliveryText(row: DeliveryRow): string {
  return JSON.stringify({
    request_id: row.request_id,
    cached_from: row.cached_from,
    attempts: attemptsOf(row),
    usage_estimated: row.usage_estimated,
    price_source: row.price_source,
    error_code: row.error_code,
    truncated: row.truncated,
    stream: row.is_stream,
  });
}
