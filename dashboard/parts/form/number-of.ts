/** Numbers as the texts of form fields. Pure. */

/** Returns the number that a field holds; undefined: it is empty. Another text stays one, for the API to refuse. */
export function numberOf(text: string): number | undefined {
  return text.trim() === '' ? undefined : Number(text);
}
