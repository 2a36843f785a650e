/** Writes lengths of time as people say them. */

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
] as const

/** Writes a length of time in its two largest units, cut: `12 min 5 s`. Below a minute it has tenths of a second: `0.4 s`. */
export function duration(ms: number): string {
  const whole = Math.floor(Math.abs(ms))
  if (whole < 60_000) return `${Math.floor(whole / 100) / 10} s`
  const first = UNITS.findIndex(([, size]) => whole >= size)
  const parts = UNITS.slice(first, first + 2).map(([unit, size], index) => {
    const before = index === 0 ? Number.POSITIVE_INFINITY : UNITS[first]![1]
    return [Math.floor((whole % before) / size), unit] as const
  })
  return parts
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ')
}

/** Writes the time from one moment to another: `+37 s`, `−5 s`. */
export function offset(ms: number): string {
  return `${ms < 0 ? '−' : '+'}${duration(ms)}`
}
