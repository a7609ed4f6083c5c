/** The overview's figures of the whole range, each with its change against the period before. */
import type { MetricsAnswer } from '#core/contracts/metrics.ts';
import { Sparkline } from '../../parts/chart/sparkline.tsx';
import {
  count,
  decimal,
  dollars,
  milliseconds,
  percent,
  plural,
  shortCount,
} from '../../parts/formats/numbers.ts';
import { Hostile } from '../../parts/text/hostile.tsx';
import { type Change, changeOf } from './change.ts';
import type { OverviewData } from './data.ts';
import {
  gradePlace,
  type Place,
  scorePlace,
  totalBefore,
  totalOf,
  totalPlace,
  unpricedOf,
  valuesOf,
} from './measures.ts';

type TileProps = {
  label: string;
  value: string;
  /** A second figure below. */
  detail?: string | undefined;
  change: Change | null;
  /** Which direction is good; null: neither is. */
  good: 'more' | 'less' | null;
  shape: Place;
  isLoading: boolean;
};

function Tile({ label, value, detail, change, good, shape: { answer, index }, isLoading }: TileProps) {
  const isJudged = change !== null && change.direction !== 'same' && good !== null;
  const tone = isJudged ? (change.direction === good ? 'good' : 'bad') : 'muted';
  return (
    <li class={isLoading ? 'tile card busy' : 'tile card'}>
      <span class="tile-label">
        <Hostile text={label} />
      </span>
      <span class="tile-value">{value}</span>
      <span class="muted">{detail ?? '\u00a0'}</span>
      <span class={`tile-change ${tone}`}>{change === null ? '\u00a0' : change.text}</span>
      <Sparkline values={valuesOf(answer.total, index)} title={`${label} over time`} />
    </li>
  );
}

/** Returns one figure as a share of another, now and before. */
function shares(part: Place, whole: Place): { now: number | null; before: number | null } {
  const share = (one: number | null, all: number | null) =>
    one === null || all === null || all === 0 ? null : one / all;
  return {
    now: share(totalOf(part), totalOf(whole)),
    before: share(totalBefore(part), totalBefore(whole)),
  };
}

const changeAt = (place: Place) => changeOf(totalOf(place), totalBefore(place));

type TotalTilesProps = { answer: MetricsAnswer; models: MetricsAnswer | null; isLoading: boolean };

function TotalTiles({ answer, models, isLoading }: TotalTilesProps) {
  const at = (name: Parameters<typeof totalPlace>[1]) => totalPlace(answer, name);
  const [prompt, completion] = [at('promptTokens'), at('completionTokens')];
  const errorShare = shares(at('errors'), at('requests'));
  const sum = (one: number | null, other: number | null) => (one ?? 0) + (other ?? 0);
  const p95 = milliseconds(totalOf(at('p95')));
  const p99 = milliseconds(totalOf(at('p99')));
  const unpriced = models === null ? 0 : unpricedOf(models);
  return (
    <>
      <Tile
        label="Requests"
        value={count(totalOf(at('requests')))}
        change={changeAt(at('requests'))}
        good={null}
        shape={at('requests')}
        isLoading={isLoading}
      />
      <Tile
        label="Errors"
        value={percent(errorShare.now)}
        detail={plural(totalOf(at('errors')), 'request')}
        change={changeOf(errorShare.now, errorShare.before)}
        good="less"
        shape={at('errors')}
        isLoading={isLoading}
      />
      <Tile
        label="Cost"
        value={dollars(totalOf(at('cost')))}
        detail={unpriced === 0 ? undefined : `${plural(unpriced, 'request')} without a price`}
        change={changeAt(at('cost'))}
        good={null}
        shape={at('cost')}
        isLoading={isLoading}
      />
      <Tile
        label="Tokens"
        value={shortCount(sum(totalOf(prompt), totalOf(completion)))}
        detail={`${shortCount(totalOf(prompt))} in, ${shortCount(totalOf(completion))} out`}
        change={changeOf(
          sum(totalOf(prompt), totalOf(completion)),
          sum(totalBefore(prompt), totalBefore(completion)),
        )}
        good={null}
        shape={prompt}
        isLoading={isLoading}
      />
      <Tile
        label="Latency, p50"
        value={milliseconds(totalOf(at('p50')))}
        detail={`p95 ${p95}, p99 ${p99}`}
        change={changeAt(at('p50'))}
        good="less"
        shape={at('p50')}
        isLoading={isLoading}
      />
      <Tile
        label="First token, p95"
        value={milliseconds(totalOf(at('ttft')))}
        change={changeAt(at('ttft'))}
        good="less"
        shape={at('ttft')}
        isLoading={isLoading}
      />
    </>
  );
}

function GradeTiles({ data: { totals, grades, scoreKeys } }: { data: OverviewData }) {
  if (totals.data === null || grades.data === null) return null;
  const { data: answer, isLoading } = grades;
  const hits = totalPlace(totals.data, 'cacheHits');
  const hitShare = shares(hits, totalPlace(totals.data, 'requests'));
  const [rated, liked] = [gradePlace(answer, 'rated'), gradePlace(answer, 'liked')];
  const likedShare = shares(liked, rated);
  return (
    <>
      <Tile
        label="Cache hits"
        value={percent(hitShare.now)}
        detail={`${dollars(totalOf(gradePlace(answer, 'saved')))} saved`}
        change={changeOf(hitShare.now, hitShare.before)}
        good="more"
        shape={hits}
        isLoading={totals.isLoading}
      />
      <Tile
        label="Good feedback"
        value={percent(likedShare.now)}
        detail={`${count(totalOf(rated))} rated`}
        change={changeOf(likedShare.now, likedShare.before)}
        good="more"
        shape={liked}
        isLoading={isLoading}
      />
      {scoreKeys.map((key, position) => {
        const place = scorePlace(answer, position);
        return (
          <Tile
            key={key}
            label={key}
            value={decimal(totalOf(place))}
            detail="mean score"
            change={changeAt(place)}
            good={null}
            shape={place}
            isLoading={isLoading}
          />
        );
      })}
    </>
  );
}

/** Tiles without the scores', which are not known before their keys. */
const EXPECTED = ['Requests', 'Errors', 'Cost', 'Tokens', 'Latency, p50', 'First token, p95'];

/** Shows the tiles; before the first answer, their places. */
export function Tiles({ data }: { data: OverviewData }) {
  const { data: answer, isLoading } = data.totals;
  return (
    <ul class="overview-tiles" aria-label="Figures of the range">
      {answer === null ? (
        EXPECTED.map((label) => (
          <li key={label} class="tile card">
            <span class="tile-label">{label}</span>
            <span class="tile-value muted">…</span>
          </li>
        ))
      ) : (
        <TotalTiles answer={answer} models={data.models.data} isLoading={isLoading} />
      )}
      <GradeTiles data={data} />
    </ul>
  );
}
