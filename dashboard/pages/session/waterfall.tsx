/** The requests of a session on its time axis. */
import { useMemo } from 'preact/hooks';
import { dollars, milliseconds } from '../../parts/formats/numbers.ts';
import { Hostile } from '../../parts/text/hostile.tsx';
import { VirtualTable } from '../../parts/virtual/virtual-table.tsx';
import { type Axis, axisOf, spanOf } from './axis.ts';
import { Indented, RequestLink, RequestRow, ROW_PX } from './row.tsx';
import { isFailed, type Leaf } from './tree.ts';
import type { SessionView } from './use-view.ts';

const percent = (share: number) => `${Math.round(share * 100_000) / 1_000}%`;

function Bar({ leaf: { request }, axis }: { leaf: Leaf; axis: Axis }) {
  const { from, to } = spanOf(request);
  const begin = axis.place(from);
  return (
    <span class="waterfall-line" title={`${milliseconds(to - from)}`}>
      <span
        class={isFailed(request) ? 'waterfall-bar waterfall-bad' : 'waterfall-bar'}
        style={{ insetInlineStart: percent(begin), inlineSize: percent(axis.place(to) - begin) }}
      />
    </span>
  );
}

/** Returns the last part of a path. */
function lastPart(path: string | null): string {
  return path?.split('/').findLast((part) => part !== '') ?? '';
}

/** Sums up the known costs in the order of time; null: none is known yet. */
function runningCosts(all: readonly Leaf[]): Map<string, number | null> {
  let sum: number | null = null;
  const costs = new Map<string, number | null>();
  for (const { request } of all) {
    if (request.cost !== null) sum = (sum ?? 0) + request.cost;
    costs.set(request.request_id, sum);
  }
  return costs;
}

/** Shows the waterfall; `pauses=1` in the address: with its pauses. */
export function Waterfall({ view }: { view: SessionView }) {
  const { all, shown, current, open, address } = view;
  const isWhole = address.query.pauses === '1';
  const axis = useMemo(
    () =>
      axisOf(
        all.map(({ request }) => spanOf(request)),
        isWhole,
      ),
    [all, isWhole],
  );
  const costs = useMemo(() => runningCosts(all), [all]);
  const at = useMemo(
    () => shown.findIndex(({ request }) => request.request_id === current),
    [shown, current],
  );
  const columns = [
    { title: 'Request', widthRem: 15 },
    { title: <Scale axis={axis} isWhole={isWhole} />, widthRem: 18 },
    { title: 'Latency', widthRem: 7, isNumber: true },
    { title: 'Cost', widthRem: 7, isNumber: true },
    { title: 'So far', widthRem: 7, isNumber: true },
  ];
  return (
    <>
      {axis.pausesMs > 0 && (
        <p class="waterfall-pauses">
          <button
            type="button"
            aria-pressed={isWhole}
            onClick={() => address.set({ pauses: isWhole ? null : '1' }, { replace: true })}
          >
            Pauses at full length
          </button>{' '}
          <span class="muted">
            {milliseconds(axis.lengthMs)}, of which nothing ran for {milliseconds(axis.pausesMs)}
          </span>
        </p>
      )}
      <VirtualTable caption="Requests by time" columns={columns} rows={shown} rowHeight={ROW_PX} current={at}>
        {(leaf, index) => (
          <RequestRow
            key={leaf.request.request_id}
            request={leaf.request}
            index={index}
            isCurrent={index === at}
            onOpen={open}
          >
            <td title={leaf.request.session_path ?? '/'}>
              <Indented depth={leaf.depth}>
                <RequestLink request={leaf.request} onOpen={open} />
                <span class="muted session-text">
                  <Hostile text={lastPart(leaf.request.session_path)} />
                </span>
              </Indented>
            </td>
            <td>
              <Bar leaf={leaf} axis={axis} />
            </td>
            <td class="number">{milliseconds(leaf.request.delay_ms)}</td>
            <td class="number">{dollars(leaf.request.cost)}</td>
            <td class="number">{dollars(costs.get(leaf.request.request_id))}</td>
          </RequestRow>
        )}
      </VirtualTable>
    </>
  );
}

function Scale({ axis, isWhole }: { axis: Axis; isWhole: boolean }) {
  const isCut = !isWhole && axis.pausesMs > 0;
  return (
    <span class="waterfall-scale">
      <span>Time</span>
      <span class="muted">{isCut ? 'pauses shortened' : milliseconds(axis.lengthMs)}</span>
    </span>
  );
}
