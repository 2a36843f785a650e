/** Dynamic thresholds: one user alone may take nearly all of a shared resource, and many users together always leave some of it free. */

/**
 * Tells whether a user that has `used` places may take one more while `free` places are free. One user alone takes up to
 * weight / (1 + weight) of all places. `n` such users leave 1 / (1 + n * weight) of them free for the next one. Source: Choudhury and
 * Hahne, "Dynamic queue length thresholds for shared-memory packet switches", IEEE/ACM Transactions on Networking 6(2), 1998.
 */
export function mayTake(used: number, free: number, weight: number): boolean {
  return free > 0 && used < weight * free
}
