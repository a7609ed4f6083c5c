/**
 * The value of a process's metric, summed over its labels.
 * @throws Error when the process does not answer or does not have it
 */
export async function readMetric(url: string, name: string): Promise<number> {
  const response = await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(10_000) });
  const samples = (await response.text())
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
  if (samples.length === 0) throw new Error(`${url} has no metric ${name}`);
  return samples.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}
