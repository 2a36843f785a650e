/** Numbers of pull requests and issues that a host does not show. */

/** A host may hide what an account opened that it has flagged, and counts on: so many numbers above the highest that it shows may be such. */
const MOST_HIDDEN = 50

/** No run of hidden ones explains the number. @param highest of all lists that it is counted with */
export function isFarAbove(number: number, highest: number): boolean {
  return number > highest + MOST_HIDDEN
}
