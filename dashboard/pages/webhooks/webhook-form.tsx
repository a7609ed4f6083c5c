/** The form of a webhook: a new one's, and that of one that is changed. */
import { useState } from 'preact/hooks';
import type {
  CreateWebhookBody,
  Format,
  Payload,
  WebhookEvent,
  WebhookJson,
} from '#core/contracts/webhook.ts';
import { toFailure } from '../../client/resource.ts';
import { Checks } from '../../parts/form/checks.tsx';
import { type FieldFault, findFault } from '../../parts/form/fault.ts';
import { Form } from '../../parts/form/form.tsx';
import { QueryField } from '../../parts/form/query-field.tsx';
import { Select } from '../../parts/form/select.tsx';
import { TextField } from '../../parts/form/text-field.tsx';
import { filterText } from '../../parts/formats/filters.ts';
import { EVENTS } from './events.ts';

const PAYLOADS = [
  { name: 'thin', label: 'Thin: ids and a few columns' },
  { name: 'full', label: 'Full: the request with its bodies' },
];
const FORMATS = [
  { name: 'standard', label: 'Standard: the event as JSON' },
  { name: 'chat', label: 'Chat: one line that chat systems show' },
];
const FIELDS = ['url', 'events', 'filter', 'q', 'payload', 'format'];
const PHRASES = { q: /\b(filter|q)\b/, url: /address|URL|host/ };

export type WebhookFormProps = {
  verb: string;
  /** Null: a new one. */
  webhook: WebhookJson | null;
  save: (body: CreateWebhookBody) => Promise<void>;
};

/** The filter is shown as text; one that is not touched stays as it was given. */
export function WebhookForm({ verb, webhook, save }: WebhookFormProps) {
  const [url, setUrl] = useState(webhook?.url ?? '');
  const [events, setEvents] = useState<WebhookEvent[]>(webhook?.events ?? ['request.logged']);
  const filter = filterText(webhook?.filter ?? null);
  const [q, setQ] = useState(filter);
  const [payload, setPayload] = useState<string>(webhook?.payload ?? 'thin');
  const [format, setFormat] = useState<string>(webhook?.format ?? 'standard');
  const [fault, setFault] = useState<FieldFault | null>(null);
  const submit = async () => {
    setFault(null);
    const body: CreateWebhookBody = { url, events, payload: payload as Payload, format: format as Format };
    if (q.trim() === '') body.filter = null;
    else if (q !== filter) body.q = q;
    try {
      await save(body);
    } catch (error) {
      const found = findFault(toFailure(error), FIELDS, PHRASES);
      if (found === null) throw error;
      setFault(found.field === 'filter' ? { ...found, field: 'q' } : found);
    }
  };
  const faultAt = (field: string) => (fault?.field === field ? fault.sentence : null);
  return (
    <Form verb={verb} onSubmit={submit}>
      <TextField
        label="Address"
        hint="Events are posted to it: http or https, and a public host."
        type="url"
        isRequired
        fault={faultAt('url')}
        value={url}
        onInput={setUrl}
      />
      <Checks legend="Events" checks={EVENTS} chosen={events} onChange={setEvents} />
      {faultAt('events') !== null && <p class="bad">{faultAt('events')}</p>}
      <QueryField
        label="Filter"
        hint="Of requests, as in the query bar. Empty: all of them."
        fault={faultAt('q')}
        q={q}
        onChange={setQ}
      />
      <Select label="Payload" options={PAYLOADS} value={payload} onChange={setPayload} />
      <Select label="Format" options={FORMATS} value={format} onChange={setFormat} />
    </Form>
  );
}
