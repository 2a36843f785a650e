/** Runs timers of any length, also beyond the limit of the platform's. */

/** The longest time of a timer: beyond some 25 days, those of the platform end at once. */
const LONGEST_MS = 2 ** 31 - 1

export function startTimer(ms: number, end: () => void): ReturnType<typeof setTimeout> {
  return setTimeout(end, Math.min(ms, LONGEST_MS))
}
