/**
 * Returns a function that calls `act`: at once, or, if the last call was less than `everyMs` ago, when that time is over, once for
 * all calls until then.
 */
export function onlyEvery(everyMs: number, act: () => void): () => void {
  let isResting = false;
  let isAsked = false;
  const rest = () => {
    isResting = true;
    setTimeout(() => {
      isResting = false;
      if (!isAsked) return;
      isAsked = false;
      begin();
    }, everyMs).unref();
  };
  const begin = () => {
    rest();
    act();
  };
  return () => {
    if (isResting) isAsked = true;
    else begin();
  };
}
