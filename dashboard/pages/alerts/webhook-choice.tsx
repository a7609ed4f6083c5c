/** The choice of the webhooks that an alert tells. */
import type { AlertJson } from '#core/contracts/alert.ts';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { Checks } from '../../parts/form/checks.tsx';
import { Select } from '../../parts/form/select.tsx';
import { hostOf, isTold, useWebhooks } from './told-webhooks.ts';

const TELLS = [
  { name: 'all', label: 'All webhooks that ask for the events of alerts' },
  { name: 'chosen', label: 'Some of them' },
];

/** Offers the webhooks that ask for events of alerts, and those that are chosen already. */
export function WebhookChoice({
  chosen,
  onChange,
}: {
  chosen: AlertJson['webhooks'];
  onChange: (chosen: AlertJson['webhooks']) => void;
}) {
  const { data, failure, reload } = useWebhooks();
  const offered = (data ?? []).filter((one) => isTold(one) || (chosen !== 'all' && chosen.includes(one.id)));
  return (
    <>
      <Select
        label="Tells"
        options={TELLS}
        value={chosen === 'all' ? 'all' : 'chosen'}
        onChange={(name) => onChange(name === 'all' ? 'all' : [])}
      />
      <FailureNotice failure={failure} retry={reload} />
      {chosen !== 'all' && data !== null && offered.length === 0 && (
        <p class="muted">No webhook asks for the events of alerts.</p>
      )}
      {chosen !== 'all' && offered.length > 0 && (
        <Checks
          legend="Webhooks"
          checks={offered.map((one) => ({
            name: one.id,
            label: hostOf(one.url),
            hint: isTold(one) ? one.url : 'asks for no events of alerts',
          }))}
          chosen={chosen}
          onChange={onChange}
        />
      )}
    </>
  );
}
