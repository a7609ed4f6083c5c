/** Queries that people ask for most, a click away. */
export const QUICK: readonly { title: string; q: string }[] = [
  { title: 'Errors', q: 'status:>=400' },
  { title: 'Slow', q: 'latency:>10s' },
  { title: 'Expensive', q: 'cost:>0.05' },
  { title: 'Rated bad', q: 'feedback:false' },
  { title: 'Rated good', q: 'feedback:true' },
];
