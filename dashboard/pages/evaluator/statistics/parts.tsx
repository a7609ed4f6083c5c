/** What the sections of the statistics are made of. */
import type { ComponentChildren } from 'preact';
import type { Interval, Rate } from '../../../client/evaluators.ts';
import { decimal, NOTHING, percent } from '../../../parts/formats/numbers.ts';

export type SectionProps = { title: string; isWide?: boolean; children: ComponentChildren };

/** A card with a title. */
export function Section({ title, isWide = false, children }: SectionProps) {
  return (
    <section class={isWide ? 'card evaluator-wide' : 'card'} aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

export type FigureProps = {
  name: string;
  /** One sentence for those who do not know the statistic. */
  explained: string;
  children: ComponentChildren;
};

/** A number with its name, and what it means. */
export function Figure({ name, explained, children }: FigureProps) {
  return (
    <div class="evaluator-figure">
      <dt>{name}</dt>
      <dd>
        <strong>{children}</strong>
        <p class="muted">{explained}</p>
      </dd>
    </div>
  );
}

/** @example rateText({ value: 0.9, low: 0.8, high: 0.95 }) // '90% (80% to 95%)' */
export function rateText(rate: Rate | null): string {
  return rate === null ? NOTHING : withInterval(percent(rate.value), rate, percent);
}

/** Returns a value with its 95 % interval, when there is one. */
export function withInterval(
  value: string,
  interval: Interval | null,
  write: (value: number) => string = decimal,
): string {
  return interval === null ? value : `${value} (${write(interval.low)} to ${write(interval.high)})`;
}
