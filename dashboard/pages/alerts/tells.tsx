/** The webhooks that an alert tells. */
import type { AlertJson } from '#core/contracts/alert.ts';
import { Hostile } from '../../parts/text/hostile.tsx';
import { href } from '../../state/address.ts';
import { hostOf, isTold, useWebhooks } from './told-webhooks.ts';

/** Lists them with links. Says it when there is none, because then nobody hears of the alert. */
export function Tells({ alert: { webhooks: chosen } }: { alert: AlertJson }) {
  const { data, failure } = useWebhooks();
  if (data === null) return <>{failure === null ? '…' : failure.message}</>;
  const told = data.filter((one) => isTold(one) && (chosen === 'all' || chosen.includes(one.id)));
  if (told.length === 0)
    return (
      <span class="warn">
        Nobody: {chosen === 'all' ? 'no webhook' : 'none of its webhooks'} asks for the events of alerts.{' '}
        <a href="/webhooks">Webhooks</a>
      </span>
    );
  return (
    <ul class="plain-list">
      {told.map(({ id, url, state }) => (
        <li key={id}>
          <a class="break" href={href('/webhooks', { w: id })}>
            <Hostile text={hostOf(url)} />
          </a>{' '}
          {state === 'paused' && <span class="chip chip-warn">paused</span>}
        </li>
      ))}
    </ul>
  );
}
