/** The figures of the benchmark, each with its aim if it has one. */
import { styleText } from 'node:util'

export interface Figure {
  readonly name: string
  readonly value: number
  readonly unit: string
  readonly bar?: Bar
}

/** @param unit empty for a ratio */
export function figure(name: string, value: number, unit: string, bar?: Bar): Figure {
  return bar ? { name, value, unit, bar } : { name, value, unit }
}

export type Bar = { readonly atLeast: number } | { readonly atMost: number }

/** A figure as `--json` prints it. */
export interface Result {
  readonly name: string
  readonly value: number
  readonly unit: string
  /** The aim, such as `>= 0.25`; null if there is none. */
  readonly bar: string | null
  readonly ok: boolean
}

export function judge({ name, value, unit, bar }: Figure): Result {
  const rounded = Number(value.toPrecision(4))
  if (!bar) return { name, value: rounded, unit, bar: null, ok: true }
  // The value itself is judged, not what is left of it for the reader.
  if ('atLeast' in bar) return { name, value: rounded, unit, bar: `>= ${bar.atLeast}`, ok: value >= bar.atLeast }
  return { name, value: rounded, unit, bar: `<= ${bar.atMost}`, ok: value <= bar.atMost }
}

const VERDICTS = { true: 'ok', false: 'missed' } as const

export function table(results: readonly Result[]): string {
  const rows = results.map(({ name, value, unit, bar, ok }) => [
    name,
    shown(value),
    unit,
    bar ?? '',
    bar === null ? '' : VERDICTS[`${ok}`],
  ])
  const [head, ...lines] = columns([['figure', 'value', 'unit', 'bar', 'ok'], ...rows], new Set([1]))
  const paint = (text: string, { ok, bar }: Result) => (bar === null ? text : styleText(ok ? 'green' : 'red', text))
  return [head, ...lines.map((line, index) => paint(line, results[index]!))].join('\n')
}

export function shown(value: number): string {
  return value.toLocaleString('en-US', { maximumSignificantDigits: 4 })
}

/** Lines of equal columns, the first in bold. @param numbers the columns that are aligned to the right */
export function columns(rows: readonly (readonly string[])[], numbers: ReadonlySet<number>): string[] {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  const lines = rows.map((cells) =>
    cells
      .map((cell, column) => (numbers.has(column) ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!)))
      .join('  ')
      .trimEnd(),
  )
  return lines.map((line, index) => (index === 0 ? styleText('bold', line) : line))
}
