/** Dynamic thresholds: how much of a shared resource one user may take, so that alone it may take nearly all, and together they always leave some free. */

/**
 * Whether a user that has `used` places may take one more while `free` places are free. Alone it takes up to weight / (1 + weight) of them; `n` such
 * users leave 1 / (1 + n * weight) free for whoever comes next. Source: Choudhury and Hahne, "Dynamic queue length thresholds for
 * shared-memory packet switches", IEEE/ACM Transactions on Networking 6(2), 1998.
 */
export function mayTake(used: number, free: number, weight: number): boolean {
  return free > 0 && used < weight * free
}
