import { quoteValue } from '../contracts/quote-value.ts';
import { isObject, type JsonObject } from '../json/mod.ts';
import { childPath } from './json-path.ts';
import { type LeafReader, readLeaf } from './leaf.ts';
import { MAX_DEPTH, MAX_LEAVES } from './limits.ts';
import { ALL, type Filter } from './nodes.ts';
import { invalid } from './operand.ts';

const BRANCH_MEMBERS = ['left', 'operator', 'right'];

/** A remaining step: to read a value, or to join the two filters read last. */
type Task =
  | { kind: 'read'; value: unknown; path: string; depth: number }
  | { kind: 'join'; operator: 'and' | 'or' };

function readBranchOperator(value: JsonObject, path: string): 'and' | 'or' {
  for (const name of Object.keys(value)) {
    if (!BRANCH_MEMBERS.includes(name)) {
      throw invalid(
        childPath(path, name),
        'is not a field of a branch: it holds left, operator and right only',
      );
    }
  }
  for (const name of BRANCH_MEMBERS) {
    if (!Object.hasOwn(value, name)) throw invalid(childPath(path, name), 'is required in a branch');
  }
  const { operator } = value;
  if (operator === 'and' || operator === 'or') return operator;
  throw invalid(childPath(path, 'operator'), `must be "and" or "or", but is ${quoteValue(operator)}`);
}

/**
 * Checks a filter and returns it as frozen tagged nodes. Reads depth-first with a stack of its own, so that a filter as
 * deep as a body allows ends in an error sentence and not in a stack overflow.
 *
 * @param value a parsed JSON value: `"all"`, `{}`, a leaf or a branch
 * @param read reads a leaf; default: of our own sections
 * @throws AssayError invalid_filter, with the place, the value, the rule and the allowed values
 */
export function parseFilter(value: unknown, read: LeafReader = readLeaf): Filter {
  const tasks: Task[] = [{ kind: 'read', value, path: 'filter', depth: 0 }];
  const done: Filter[] = [];
  let leaves = 0;
  for (let task = tasks.pop(); task !== undefined; task = tasks.pop()) {
    if (task.kind === 'join') {
      const right = done.pop()!;
      const left = done.pop()!;
      done.push(Object.freeze({ kind: 'branch', operator: task.operator, left, right }));
      continue;
    }
    const { value: current, path, depth } = task;
    if (current === 'all') {
      done.push(ALL);
      continue;
    }
    if (!isObject(current)) {
      throw invalid(path, `must be "all", a leaf or a branch, but is ${quoteValue(current)}`);
    }
    const names = Object.keys(current);
    if (names.length === 0) {
      done.push(ALL);
    } else if (names.some((name) => BRANCH_MEMBERS.includes(name))) {
      const operator = readBranchOperator(current, path);
      if (depth === MAX_DEPTH)
        throw invalid('filter', `must be at most ${MAX_DEPTH} branches deep, but is deeper`);
      tasks.push(
        { kind: 'join', operator },
        { kind: 'read', value: current.right, path: `${path}.right`, depth: depth + 1 },
        { kind: 'read', value: current.left, path: `${path}.left`, depth: depth + 1 },
      );
    } else {
      leaves += 1;
      if (leaves > MAX_LEAVES)
        throw invalid('filter', `must have at most ${MAX_LEAVES} leaves, but has more`);
      done.push(read(current, path));
    }
  }
  return done[0]!;
}
