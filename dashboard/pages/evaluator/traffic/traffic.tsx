/** What an evaluator scores as it is logged: its online evaluators. */
import { useState } from 'preact/hooks';
import { call } from '../../../client/call.ts';
import type { Evaluator, OnlineEvaluator } from '../../../client/evaluators.ts';
import { useResource } from '../../../client/resource.ts';
import { Confirm } from '../../../parts/dialog/confirm.tsx';
import { Dialog } from '../../../parts/dialog/dialog.tsx';
import { FailureNotice } from '../../../parts/failure/failure.tsx';
import { WithScope } from '../../../parts/form/scope.tsx';
import { fullTime, shortTime } from '../../../parts/formats/times.ts';
import { type Column, Table } from '../../../parts/table/table.tsx';
import { Hostile } from '../../../parts/text/hostile.tsx';
import { tell } from '../../../parts/toast/toast.tsx';
import { href } from '../../../state/address.ts';
import { may } from '../../../state/me.ts';
import { AttachForm } from './attach-form.tsx';
import {
  attachmentChanges,
  attachmentConfig,
  attachmentOf,
  emptyAttachment,
  requestsQuery,
} from './attachment.ts';

const pathOf = ({ id }: Evaluator) => `/v1/evaluator/${id}/onlineEvaluators`;

function Which({ config }: OnlineEvaluator) {
  const q = requestsQuery(config);
  if (q === '') return <>Every request</>;
  return (
    <a class="mono evaluator-query" href={href('/requests', { q })}>
      <Hostile text={q} />
    </a>
  );
}

type Asked = { kind: 'edit' | 'detach'; one: OnlineEvaluator } | null;

function columnsOf(ask: (asked: Asked) => void): Column<OnlineEvaluator>[] {
  const columns: Column<OnlineEvaluator>[] = [
    { name: 'requests', title: 'Requests', cell: (one) => <Which {...one} /> },
    { name: 'rate', title: 'Sampled', isNumber: true, cell: ({ config }) => `${config.sampleRate}%` },
    { name: 'probes', title: 'Probed', isNumber: true, cell: ({ config }) => `${config.probeRate}%` },
    {
      name: 'since',
      title: 'Since',
      cell: ({ created_at }) => (
        <time dateTime={created_at} title={fullTime(created_at)}>
          {shortTime(created_at, Date.now())}
        </time>
      ),
    },
  ];
  if (!may('write')) return columns;
  const actions: Column<OnlineEvaluator> = {
    name: 'actions',
    title: 'Change',
    cell: (one) => (
      <span class="evaluator-links">
        <button type="button" onClick={() => ask({ kind: 'edit', one })}>
          Edit
        </button>
        <button type="button" onClick={() => ask({ kind: 'detach', one })}>
          Detach
        </button>
      </span>
    ),
  };
  return [...columns, actions];
}

type AskedProps = { evaluator: Evaluator; asked: Asked; onClose: () => void; onDone: () => void };

function AskedDialog({ evaluator, asked, onClose, onDone }: AskedProps) {
  if (asked === null) return null;
  const { kind, one } = asked;
  const path = `${pathOf(evaluator)}/${one.id}`;
  if (kind === 'detach') {
    return (
      <Confirm
        title="Detach from this traffic?"
        text="Requests logged from now on are not scored by this rule. Scores and evaluations that wait stay."
        verb="Detach"
        run={async () => {
          await call<null>('DELETE', path);
          tell('Detached');
          onDone();
        }}
        onClose={onClose}
      />
    );
  }
  const first = attachmentOf(one.config);
  return (
    <Dialog title="Change what is scored" onClose={onClose} isWide>
      <p>The change is for requests logged from now on. Evaluations that wait are made nevertheless.</p>
      <AttachForm
        verb="Save"
        evaluator={evaluator}
        first={first}
        onSubmit={async (draft) => {
          const config = attachmentChanges(first, draft);
          if (Object.keys(config).length > 0) {
            await call('PATCH', path, { config });
            tell('Changed for requests logged from now on');
            onDone();
          }
          onClose();
        }}
      />
    </Dialog>
  );
}

/** Shows the list, and a form for another. */
export function Traffic({ evaluator }: { evaluator: Evaluator }) {
  const [asked, setAsked] = useState<Asked>(null);
  const [turn, setTurn] = useState(0);
  const { data, failure, isLoading, reload } = useResource(`evaluator-online ${evaluator.id}`, (signal) =>
    call<OnlineEvaluator[]>('GET', pathOf(evaluator), undefined, signal),
  );
  return (
    <>
      <p>
        An attached evaluator scores requests as they are logged. Earlier requests are scored by a run over
        history.
      </p>
      <FailureNotice failure={failure} retry={reload} />
      {data !== null && (
        <Table
          caption="Traffic that the evaluator is attached to"
          columns={columnsOf(setAsked)}
          rows={data}
          keyOf={({ id }) => id}
          isLoading={isLoading}
          empty="It is attached to no traffic: requests are logged, but it scores none of them."
        />
      )}
      <section class="card evaluator-section" aria-label="Attach">
        <h2>Attach to traffic</h2>
        <WithScope scope="write" what="attach evaluators">
          <AttachForm
            key={turn}
            verb="Attach"
            evaluator={evaluator}
            first={emptyAttachment(evaluator.scope)}
            onSubmit={async (draft) => {
              await call('POST', pathOf(evaluator), { config: attachmentConfig(draft) });
              tell('Attached');
              setTurn((before) => before + 1);
              reload();
            }}
          />
        </WithScope>
      </section>
      <AskedDialog evaluator={evaluator} asked={asked} onClose={() => setAsked(null)} onDone={reload} />
    </>
  );
}
