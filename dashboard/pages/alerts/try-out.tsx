/** What an alert would have done in the last hours, and how its value stands to its threshold now. */
import type { AlertBody, AlertTestJson } from '#core/contracts/alert.ts';
import { Moment } from '../../parts/formats/moment.tsx';
import { plural } from '../../parts/formats/numbers.ts';
import { Hostile } from '../../parts/text/hostile.tsx';
import { groupText, isBeyond, valueText } from './words.ts';

/** Events that are shown; the others are counted. */
const MOST_EVENTS = 10;

function Now({ alert, values }: { alert: AlertBody; values: AlertTestJson['values'] }) {
  const last = values.at(-1);
  if (last === undefined) return null;
  const [, value] = last;
  const { comparison, threshold, query } = alert;
  if (value === null) return <p>Now: no data, which counts as {alert.no_data}.</p>;
  const isFiring = isBeyond(value, comparison, threshold);
  const top = Math.max(value, threshold, 0) || 1;
  return (
    <div class="quota">
      <meter
        min={0}
        max={top}
        value={value}
        aria-label={`${valueText(query, value)} against ${valueText(query, threshold)}`}
      />
      <span>
        Now <strong>{valueText(query, value)}</strong>:{' '}
        <span class={isFiring ? 'bad' : 'good'}>
          {isFiring ? 'beyond the threshold' : 'not beyond the threshold'}
        </span>{' '}
        ({comparison} {valueText(query, threshold)})
      </span>
    </div>
  );
}

/** Shows the result of a try-out. */
export function TryOut({ alert, result, hours }: { alert: AlertBody; result: AlertTestJson; hours: number }) {
  const { events, values, evaluations, is_complete } = result;
  const fired = events.filter(({ event }) => event === 'fired');
  return (
    <section class="card" aria-label="Try-out">
      <Now alert={alert} values={values} />
      <p>
        In the last {hours} hours it would have fired {plural(fired.length, 'time')} (
        {plural(evaluations, 'evaluation')}
        {!is_complete && ', not all of them: the time limit was reached'}).
      </p>
      <ul>
        {events.slice(-MOST_EVENTS).map(({ at, event, severity, group, value }) => (
          <li key={`${at} ${event} ${severity} ${groupText(group)}`}>
            <Moment at={at} />: {event}, {severity}
            {Object.keys(group).length > 0 && (
              <>
                , <Hostile text={groupText(group)} />
              </>
            )}
            , at {valueText(alert.query, value)}
          </li>
        ))}
      </ul>
    </section>
  );
}
