/** Places in a record: `response.choices.0.message`. The first step is the side. */

/** A member's name or an array's index; a number: the position of a member whose name is too long to be told. */
export type Step = string | number;
export type Path = readonly Step[];

/**
 * Returns a path as the address and the query bar write it. In names, `~` is `~0` and `.` is `~1`.
 * @example printPath(['response', 'choices', '0']) // 'response.choices.0'
 */
export function printPath(path: Path): string {
  return path
    .map((step) =>
      typeof step === 'number' ? `~@${step}` : step.replaceAll('~', '~0').replaceAll('.', '~1'),
    )
    .join('.');
}

/** Reads what `printPath` wrote; other text is a path that leads nowhere. */
export function readPath(text: string): Path {
  return text.split('.').map((step) => {
    const position = /^~@(\d{1,9})$/.exec(step);
    return position === null ? step.replaceAll('~1', '.').replaceAll('~0', '~') : Number(position[1]);
  });
}

/** Returns whether a path leads to the other place or to one around it. */
export function isOnWay(path: Path, to: Path): boolean {
  return path.length <= to.length && path.every((step, index) => step === to[index]);
}
