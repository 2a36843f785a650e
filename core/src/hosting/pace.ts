/** Says when bytes that came may be passed on. */

/** @returns what to wait for; undefined: nothing */
export type Pace = (bytes: number) => Promise<void> | undefined
