/** Tells whether two cells of a database hold the same bytes. SQLite keeps a value of any kind in any column. */
export function sameBytes(one: unknown, other: unknown): boolean {
  return one instanceof Uint8Array && other instanceof Uint8Array && Buffer.compare(one, other) === 0
}
