/** What each request was and cost, and how much more than the one it is compared with. */
import type { ComponentChildren } from 'preact';
import { count, decimal, dollars, milliseconds, NOTHING, percent } from '../../parts/formats/numbers.ts';
import { fullTime } from '../../parts/formats/times.ts';
import type { RecordHead } from '../../parts/record/record-protocol.ts';
import { StatusChip } from '../../parts/request/status-chip.tsx';
import { Hostile } from '../../parts/text/hostile.tsx';

type Measure = {
  title: string;
  value: (head: RecordHead) => number | null;
  format: (value: number) => string;
};

const MEASURES: readonly Measure[] = [
  { title: 'Latency', value: ({ delay_ms: ms }) => ms, format: milliseconds },
  { title: 'First token', value: ({ time_to_first_token: ms }) => ms, format: milliseconds },
  { title: 'Prompt tokens', value: ({ prompt_tokens: tokens }) => tokens, format: count },
  { title: 'Completion tokens', value: ({ completion_tokens: tokens }) => tokens, format: count },
  { title: 'Cost', value: ({ cost }) => cost, format: dollars },
];

/** @example change(150, 100) // '+50%' */
function change(value: number | null, base: number | null): string {
  if (value === null || base === null || base === 0 || value === base) return '';
  return `${value > base ? '+' : ''}${percent((value - base) / base)}`;
}

/** Measures of all requests, with their scores. */
function measuresOf(heads: readonly RecordHead[]): Measure[] {
  const keys = new Set(heads.flatMap(({ scores }) => Object.keys(scores ?? {})));
  const scores = [...keys].map((key) => ({
    title: key,
    value: ({ scores }: RecordHead) => scores?.[key] ?? null,
    format: decimal,
  }));
  return [...MEASURES, ...scores];
}

export type FactTableProps = {
  heads: readonly RecordHead[];
  base: number;
  onBase: (id: string) => void;
  onOrder: (ids: readonly string[]) => void;
};

function moved(ids: readonly string[], at: number): string[] {
  const next = [...ids];
  [next[at - 1], next[at]] = [next[at]!, next[at - 1]!];
  return next;
}

function Head({ heads, base, onBase, onOrder }: FactTableProps) {
  const ids = heads.map(({ request_id }) => request_id);
  return (
    <tr>
      <th scope="col">
        <span class="unseen">Measure</span>
      </th>
      {heads.map(({ request_id: id, model }, index) => (
        <th key={id} scope="col">
          <a href={`/requests/${encodeURIComponent(id)}`}>
            <Hostile text={model} />
          </a>
          <div class="compare-tools">
            <button type="button" aria-pressed={index === base} onClick={() => onBase(id)}>
              {index === base ? 'Compared with this' : 'Compare with this'}
            </button>
            <button
              type="button"
              class="quiet"
              disabled={index === 0}
              aria-label={`Move request ${index + 1} to the left`}
              onClick={() => onOrder(moved(ids, index))}
            >
              ←
            </button>
            <button
              type="button"
              class="quiet"
              aria-label={`Remove request ${index + 1}`}
              onClick={() => onOrder(ids.filter((one) => one !== id))}
            >
              ✕
            </button>
          </div>
        </th>
      ))}
    </tr>
  );
}

function Row({ title, cells }: { title: ComponentChildren; cells: readonly ComponentChildren[] }) {
  return (
    <tr>
      <th scope="row">{title}</th>
      {cells.map((cell, index) => (
        <td key={index}>{cell}</td>
      ))}
    </tr>
  );
}

/** Shows a column a request. */
export function FactTable(props: FactTableProps) {
  const { heads, base } = props;
  return (
    // A box that scrolls must be reachable by key.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
    <section class="table-box" aria-label="Figures of the requests" tabIndex={0}>
      <table class="table compare-facts">
        <caption class="unseen">Figures of the requests</caption>
        <thead>
          <Head {...props} />
        </thead>
        <tbody>
          <Row
            title="Status"
            cells={heads.map(({ request_id: id, response_status: status }) => (
              <StatusChip key={id} status={status} />
            ))}
          />
          <Row title="Time" cells={heads.map(({ request_created_at: at }) => fullTime(at))} />
          {measuresOf(heads).map(({ title, value, format }) => (
            <Row
              key={title}
              title={<Hostile text={title} />}
              cells={heads.map((head) => {
                const found = value(head);
                return (
                  <>
                    {found === null ? NOTHING : format(found)}{' '}
                    <span class="muted">{change(found, value(heads[base]!))}</span>
                  </>
                );
              })}
            />
          ))}
        </tbody>
      </table>
    </section>
  );
}
