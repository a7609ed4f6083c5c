/** The names by which the field tells which option is chosen. */

/** Returns the id of an option's element. */
export function optionId(listId: string, index: number): string {
  return `${listId}-${index}`;
}
