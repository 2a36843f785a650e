/** Timers of any length. */

/** Beyond some 25 days, a timer of the platform ends at once. */
const LONGEST_MS = 2 ** 31 - 1

export function startTimer(ms: number, end: () => void): ReturnType<typeof setTimeout> {
  return setTimeout(end, Math.min(ms, LONGEST_MS))
}
