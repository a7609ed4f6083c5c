/** The redelivery of all that failed. */
import { useState } from 'preact/hooks';
import type { RedeliveredJson } from '#core/contracts/webhook.ts';
import { call } from '../../client/call.ts';
import { Confirm } from '../../parts/dialog/confirm.tsx';
import { count } from '../../parts/formats/numbers.ts';
import { tell } from '../../parts/toast/toast.tsx';

/** Failed deliveries are kept for 30 days, so this excludes none. */
const SINCE_EVER = new Date(0).toISOString();

function sentence({ redelivered, remaining }: RedeliveredJson): string {
  if (redelivered === 0 && remaining === 0) return 'No delivery has failed';
  const rest = remaining === 0 ? '' : `; ${count(remaining)} more do not fit: ask again later`;
  return `Delivered again: ${count(redelivered)}${rest}`;
}

/** A button with a question behind it. */
export function RedeliverFailed({ webhookId, onDone }: { webhookId: string; onDone: () => void }) {
  const [isAsking, setAsking] = useState(false);
  const run = async () => {
    const body = { since: SINCE_EVER };
    tell(sentence(await call<RedeliveredJson>('POST', `/v1/webhook/${webhookId}/redeliver`, body)));
    onDone();
  };
  return (
    <>
      <button type="button" onClick={() => setAsking(true)}>
        Redeliver all failed
      </button>
      {isAsking && (
        <Confirm
          title="Redeliver all failed deliveries?"
          text="All that failed in the last 30 days are sent again with their ids, the oldest first, as many as may wait at once. The receiver may have seen some of them."
          verb="Redeliver all"
          run={run}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  );
}
