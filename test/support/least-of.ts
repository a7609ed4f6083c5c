/** The least of what `rounds` measurements give: in any one of them a busy machine may have held up everything. */
export async function leastOf(rounds: number, measure: (round: number) => Promise<number>): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round += 1) least = Math.min(least, await measure(round));
  return least;
}
