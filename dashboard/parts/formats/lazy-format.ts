/** Formats of the browser, made when they are first used: to make one takes as long as to write hundreds of numbers. */

type Format<Value> = { format(value: Value): string };

/** Returns a format that is made once, by its first use. */
export function lazyFormat<Value>(make: () => Format<Value>): Format<Value> {
  let made: Format<Value> | undefined;
  return {
    format(value) {
      made ??= make();
      return made.format(value);
    },
  };
}
