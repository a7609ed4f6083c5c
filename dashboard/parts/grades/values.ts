/** Grades by the kind of their criterion: the values that can be chosen, their keys, and their words. Pure. */
import { codeOf, type GradeValue, type Kind, stepsTo } from '#core/grades/mod.ts';
import { decimal } from '../formats/numbers.ts';

/** A grade that is being given; `value` null: none is chosen. */
export type GradeDraft = { value: GradeValue | null; comment: string };

/** A value to choose, with the digit that chooses it; null: it has no key. */
export type Choice = { value: GradeValue; label: string; key: string | null };

/** Values of a scale that are shown as buttons; a longer one is a field for a number. */
const MOST_BUTTONS = 11;
/** Decimal digits of a step, as the API rounds it. */
const PRECISION = 12;

const digitAt = (index: number) => (index < 9 ? String(index + 1) : null);

/** Returns the values of a scale in steps. */
function stepsOf(min: number, max: number, step: number): number[] {
  const steps = stepsTo({ min, step }, max) ?? 0;
  return Array.from({ length: steps + 1 }, (_, index) => Number((min + index * step).toPrecision(PRECISION)));
}

/** Returns the choices of a scale. A digit that is one of the values chooses it, rather than the value at its place. */
function scaleChoices(values: readonly number[]): Choice[] {
  const areDigits = values.every((value) => Number.isInteger(value) && value >= 0 && value <= 9);
  return values.map((value, index) => ({
    value,
    label: decimal(value),
    key: areDigits ? String(value) : digitAt(index),
  }));
}

/** Returns the values that a criterion offers; null: any number of a scale, which is written. */
export function choicesOf(kind: Kind): Choice[] | null {
  switch (kind.type) {
    case 'boolean':
      return [
        { value: true, label: 'Yes', key: '1' },
        { value: false, label: 'No', key: '2' },
      ];
    case 'categories':
      return kind.labels.map(({ label }, index) => ({ value: label, label, key: digitAt(index) }));
    case 'scale': {
      const { min, max, step } = kind;
      if (step === null || (stepsTo({ min, step }, max) ?? MOST_BUTTONS) >= MOST_BUTTONS) return null;
      return scaleChoices(stepsOf(min, max, step));
    }
  }
}

/** Returns the rule that a grade breaks; null: it breaks none, or there is no grade. */
export function ruleOf(kind: Kind, { value }: GradeDraft): string | null {
  if (value === null) return null;
  const coded = codeOf(kind, value);
  return 'rule' in coded ? `The grade ${coded.rule}` : null;
}

/** Returns a grade in words. */
export function valueText(value: GradeValue): string {
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  return typeof value === 'number' ? String(value) : value;
}

/** Returns what a criterion lets people say, in words. */
export function kindText(kind: Kind): string {
  switch (kind.type) {
    case 'boolean':
      return 'Yes or no';
    case 'scale':
      return `${kind.min} to ${kind.max}${kind.step === null ? '' : `, in steps of ${kind.step}`}`;
    case 'categories':
      return kind.labels.map(({ label }) => label).join(', ');
  }
}
