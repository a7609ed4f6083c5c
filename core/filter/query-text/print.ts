/** Writes filters as text: the shortest form that reads back as the same tree. */
import { bareTextOf } from './bare-text.ts';
import { fieldOf, type NamedField, printName } from './names.ts';
import { printNumber, printValue } from './print-value.ts';
import { printText } from './quote.ts';
import { type BranchTree, type Condition, conditionOf, type FilterTree, isBranch } from './tree.ts';

/**
 * Returns the text of a filter, which `parseQuery` reads as the same tree (`{}` as `"all"`). A filter near the limits of
 * filters may have a text that is too long to be read.
 * @param filter one that `parseFilter` accepts
 */
export function printQuery(filter: FilterTree): string {
  return printTree(filter).text;
}

/** A text; `isClosed`: it can stand beside others without parentheses. */
type Printed = { readonly text: string; readonly isClosed: boolean };

function printTree(tree: FilterTree): Printed {
  const term = printTerm(tree);
  if (term !== null) return { text: term, isClosed: true };
  const branch = tree as BranchTree;
  const items = itemsOf(branch);
  const group = printGroup(branch.operator, items);
  if (group !== null) return { text: group, isClosed: true };
  const texts = items.map((item) => {
    const { text, isClosed } = printTree(item);
    return isClosed ? text : `(${text})`;
  });
  return { text: texts.join(branch.operator === 'or' ? ' OR ' : ' '), isClosed: false };
}

/** Returns the items of a list that becomes this branch when it is joined from the left. */
function itemsOf(branch: BranchTree): FilterTree[] {
  const reversed: FilterTree[] = [branch.right];
  let rest: FilterTree = branch.left;
  while (isBranch(rest) && rest.operator === branch.operator && printTerm(rest) === null) {
    reversed.push(rest.right);
    rest = rest.left;
  }
  reversed.push(rest);
  return reversed.reverse();
}

/** Returns the text of a single term; null for a branch of several. */
function printTerm(tree: FilterTree): string | null {
  if (isBranch(tree)) return printBareText(tree) ?? printRange(tree);
  const condition = conditionOf(tree);
  return condition === null ? '*' : printCondition(condition);
}

function printBareText(tree: BranchTree): string | null {
  const found = bareTextOf(tree);
  if (found === null) return null;
  // A colon would make it the name of a field.
  const text = found.text.includes(':') ? JSON.stringify(found.text) : printText(found.text, false);
  return found.isNot ? `-${text}` : text;
}

/** Returns `field:a..b` for the branch that this reads as, and for its complement; null for others. */
function printRange({ left, operator, right }: BranchTree): string | null {
  const [from, to] = [conditionOf(left), conditionOf(right)];
  if (from === null || to === null || from.section !== to.section || from.field !== to.field) return null;
  const not = operator === 'and' ? '' : 'not-';
  if (from.operator !== `${not}gte` || to.operator !== `${not}lt`) return null;
  const field = fieldOf(from.section, from.field);
  const ends = [from, to].map(({ operand }) => printNumber(field, operand));
  return `${not === '' ? '' : '-'}${printName(field)}:${ends.join('..')}`;
}

function printCondition(condition: Condition): string {
  const field = fieldOf(condition.section, condition.field);
  const name = printName(field);
  const { operator, operand } = condition;
  if (operand === null) return operator === 'equals' ? `-has:${name}` : `has:${name}`;
  const isNot = operator.startsWith('not-');
  return `${isNot ? '-' : ''}${name}:${printValue(field, condition)}`;
}

/** Returns `field:(a OR b)` for alternatives of one field; null for others. */
function printGroup(operator: 'and' | 'or', items: readonly FilterTree[]): string | null {
  if (operator === 'and') return null;
  const conditions = items.map(conditionOf);
  const [first] = conditions;
  if (first == null) return null;
  const isAlike = (condition: Condition | null): condition is Condition =>
    condition !== null &&
    condition.section === first.section &&
    condition.field === first.field &&
    // Before a number, `-` would be its sign.
    !condition.operator.startsWith('not-');
  if (!conditions.every(isAlike)) return null;
  const field: NamedField = fieldOf(first.section, first.field);
  return `${printName(field)}:(${conditions.map((condition) => printValue(field, condition)).join(' OR ')})`;
}
