/** The requests of a session by their path. */
import { useMemo } from 'preact/hooks';
import { count, dollars, milliseconds, plural } from '../../parts/formats/numbers.ts';
import { Hostile } from '../../parts/text/hostile.tsx';
import { VirtualTable } from '../../parts/virtual/virtual-table.tsx';
import { Indented, RequestLink, RequestRow, ROW_PX } from './row.tsx';
import { printClosed, type TreeRow } from './tree.ts';
import type { SessionView } from './use-view.ts';

const COLUMNS = [
  { title: 'Path', widthRem: 18 },
  { title: 'Began', widthRem: 7.5, isNumber: true },
  { title: 'Latency', widthRem: 7, isNumber: true },
  { title: 'Requests', widthRem: 5, isNumber: true },
  { title: 'Tokens', widthRem: 7.5, isNumber: true },
  { title: 'Cost', widthRem: 7.5, isNumber: true },
];

type NodeRow = Extract<TreeRow, { kind: 'node' }>;

function Node({ row, index, onToggle }: { row: NodeRow; index: number; onToggle: (path: string) => void }) {
  const { depth, errors, isClosed, node } = row;
  return (
    <tr class="grid-row session-node" style={{ height: `${ROW_PX}px` }} aria-rowindex={index + 2}>
      <td>
        <Indented depth={depth}>
          <button
            type="button"
            class="quiet session-toggle"
            aria-expanded={!isClosed}
            onClick={() => onToggle(node.path)}
          >
            <span aria-hidden="true">{isClosed ? '▸' : '▾'}</span>
            <span class="session-text" title={node.path}>
              <Hostile text={node.name === '' ? '/' : node.name} />
            </span>
          </button>
          {errors > 0 && (
            <span class="chip chip-bad">
              <span aria-hidden="true">✕</span> {plural(errors, 'error')}
            </span>
          )}
        </Indented>
      </td>
      <td />
      <td />
      <td class="number">{count(node.total_requests)}</td>
      <td class="number">{count(node.total_tokens)}</td>
      <td class="number">{dollars(node.total_cost)}</td>
    </tr>
  );
}

/** Shows the tree; `closed` in the address are the paths that are folded up. */
export function TreeView({ view }: { view: SessionView }) {
  const { rows, closed, current, open, address, begin } = view;
  const toggle = (path: string) => {
    const next = new Set(closed);
    if (!next.delete(path)) next.add(path);
    address.set({ closed: printClosed(next) }, { replace: true });
  };
  const at = useMemo(
    () => rows.findIndex((row) => row.kind === 'request' && row.request.request_id === current),
    [rows, current],
  );
  return (
    <VirtualTable caption="Requests by path" columns={COLUMNS} rows={rows} rowHeight={ROW_PX} current={at}>
      {(row, index) =>
        row.kind === 'node' ? (
          <Node key={`node ${row.node.path}`} row={row} index={index} onToggle={toggle} />
        ) : (
          <RequestRow
            key={row.request.request_id}
            request={row.request}
            index={index}
            isCurrent={index === at}
            onOpen={open}
          >
            <td>
              <Indented depth={row.depth}>
                <RequestLink request={row.request} onOpen={open} />
              </Indented>
            </td>
            <td class="number muted">+{milliseconds(Date.parse(row.request.created_at) - begin)}</td>
            <td class="number">{milliseconds(row.request.delay_ms)}</td>
            <td />
            <td class="number">{count(row.request.total_tokens)}</td>
            <td class="number">{dollars(row.request.cost)}</td>
          </RequestRow>
        )
      }
    </VirtualTable>
  );
}
