/**
 * Returns the least of up to `rounds` measurements, the first that is below `limitMs`: in any one of them a busy machine may
 * have held up everything.
 */
export async function leastOf(
  rounds: number,
  measure: (round: number) => Promise<number>,
  limitMs = 0,
): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds && least >= limitMs; round += 1)
    least = Math.min(least, await measure(round));
  return least;
}
