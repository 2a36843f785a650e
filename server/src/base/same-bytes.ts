/** Whether two cells of a database, which may be damaged, hold the same bytes. */
export function sameBytes(one: unknown, other: unknown): boolean {
  return one instanceof Uint8Array && other instanceof Uint8Array && Buffer.compare(one, other) === 0
}
