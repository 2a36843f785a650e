/** Times in which the traps are told. All in milliseconds. */
export const MINUTE = 60_000
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR
/** After the tolerance of most actions, before their deadline. */
export const TOO_LATE = 11 * MINUTE
