/** Whether the form is saved, and the way back to what is. */
import type { Evaluator } from '../../../client/evaluators.ts';
import type { DraftHolder } from './unsaved.ts';

export type DraftNoticeProps = {
  /** Null: it is new. */
  saved: Evaluator | null;
  holder: DraftHolder;
  onDiscard: () => void;
};

function stateOf({
  saved,
  holder: { unsaved, isDiscarded },
}: Pick<DraftNoticeProps, 'saved' | 'holder'>): string {
  if (unsaved !== null) return 'Unsaved draft: kept until this tab is closed or reloaded, or you log out.';
  if (isDiscarded) return 'The draft is discarded.';
  return saved === null ? 'Nothing is written yet.' : `As saved in version ${saved.version}.`;
}

/** Shows the state, also when there is no draft: the form does not move at the first letter. */
export function DraftNotice(props: DraftNoticeProps) {
  const { saved, holder, onDiscard } = props;
  const { unsaved, isDiscarded, restore } = holder;
  const discard = () => {
    holder.discard();
    onDiscard();
  };
  const isOlder = saved !== null && unsaved?.version != null && unsaved.version < saved.version;
  return (
    <div class="evaluator-draft">
      <p role="status">
        {stateOf(props)}
        {isOlder && (
          <strong>
            {' '}
            It was begun on version {unsaved.version}; saving it replaces version {saved.version}.
          </strong>
        )}
        {unsaved?.lacksSecrets && <strong> Secrets are not kept: write them again.</strong>}
      </p>
      {/* One button for both, which keeps the focus. */}
      {(unsaved !== null || isDiscarded) && (
        <button type="button" onClick={isDiscarded ? restore : discard}>
          {isDiscarded ? 'Bring it back' : 'Discard the draft'}
        </button>
      )}
    </div>
  );
}
