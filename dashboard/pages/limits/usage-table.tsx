/** The counters in use, those nearest to their quota first. */
import type { UsageJson } from '#core/contracts/limit-usage.ts';
import type { KeyNames } from '../../client/key-names.ts';
import { count, dollars, milliseconds, NOTHING } from '../../parts/formats/numbers.ts';
import { addCondition } from '../../parts/query-bar/edit.ts';
import { type Column, Table } from '../../parts/table/table.tsx';
import { Hostile } from '../../parts/text/hostile.tsx';
import { href } from '../../state/address.ts';
import { nameOf, usageKey } from './usage.ts';

const UNITS = { request: 'Calls', cents: 'Money', log: 'Logged requests' };
const CENTS_A_DOLLAR = 100;
const NEARLY_USED = 0.8;

function amount(unit: UsageJson['unit'], value: number): string {
  return unit === 'cents' ? dollars(value / CENTS_A_DOLLAR) : count(value);
}

function Segment({ segment, value }: UsageJson) {
  if (segment === null) return <>{NOTHING}</>;
  if (segment === '*') return <>All values beyond the bound</>;
  const text = value ?? '';
  const field = segment === 'user' ? 'user' : `property.${segment}`;
  return (
    <>
      <Hostile text={segment} />{' '}
      <a
        class="break"
        href={href('/requests', { q: addCondition('', field, text) })}
        title="The requests of this value"
      >
        <Hostile text={text} />
      </a>
    </>
  );
}

function columns(names: KeyNames): readonly Column<UsageJson>[] {
  return [
    {
      name: 'key',
      title: 'Key',
      cell: ({ api_key_id: id }) => {
        const name = <Hostile text={nameOf(names, id)} />;
        if (id === null) return <span class="break">{name}</span>;
        return (
          <a
            class="break"
            href={href('/requests', { q: addCondition('', 'api_key', id) })}
            title="The requests of this key"
          >
            {name}
          </a>
        );
      },
    },
    {
      name: 'limit',
      title: 'Limit',
      cell: ({ unit, window_seconds, quota, is_key_policy }) => (
        <>
          {UNITS[unit]}: {amount(unit, quota)} in {milliseconds(window_seconds * 1_000)}{' '}
          {is_key_policy && <span class="chip">the key's own</span>}
        </>
      ),
    },
    { name: 'segment', title: 'For each', cell: (one) => <Segment {...one} /> },
    {
      name: 'used',
      title: 'Used',
      cell: ({ unit, quota, used, reserved }) => (
        <div class="quota">
          <meter
            min={0}
            max={Math.max(quota, used)}
            high={quota * NEARLY_USED}
            optimum={0}
            value={used}
            aria-label={`${amount(unit, used)} of ${amount(unit, quota)}`}
          />
          <span>
            {amount(unit, used)} of {amount(unit, quota)}
            {reserved > 0 && <span class="muted">, {amount(unit, reserved)} reserved</span>}
          </span>
        </div>
      ),
    },
    {
      name: 'reset',
      title: 'Empty in',
      isNumber: true,
      cell: ({ reset_seconds }) => milliseconds(reset_seconds * 1_000),
    },
  ];
}

/** @param isOfText whether they are those that have a text */
export function UsageTable({
  usage,
  names,
  isOfText,
}: {
  usage: readonly UsageJson[];
  names: KeyNames;
  isOfText: boolean;
}) {
  const empty = isOfText
    ? 'No counter has this text.'
    : 'No limit is in use: no call within its window has had one. A call gets one from its key, or names it in the header Service-RateLimit-Policy.';
  return (
    <Table
      caption="Counters of rate limits"
      columns={columns(names)}
      rows={usage}
      keyOf={usageKey}
      empty={<p>{empty}</p>}
    />
  );
}
