/** The page of an address that no page has. */
export function NotFound() {
  return (
    <>
      <h1>There is no such page</h1>
      <p>
        <a href="/">Overview</a>
      </p>
    </>
  );
}
