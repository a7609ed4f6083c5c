/** Deliveries while processes and the receiver are killed. `npm run bench webhooks` does it with 10,000 events. */
import t from 'tap';
import { runWebhookStorm } from '../../../support/webhook-chaos.ts';

t.test(
  'no event is lost, and no attempt made too early, while senders and the receiver are killed',
  async (t) => {
    const storm = await runWebhookStorm(t, { events: 300, kills: 6, absences: 6 });
    t.same(storm.lost, []);
    t.equal(storm.early, 0);
    t.equal(storm.unverified, 0);
    t.ok(storm.attempts > storm.events, `${storm.attempts} attempts for ${storm.events} events`);
    t.comment(`${storm.repeated} messages came again after they were taken, ${Math.round(storm.tookMs)} ms`);
  },
);
