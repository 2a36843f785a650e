/** What the benchmark says: figures, each with the bar that it is held against where there is one. */
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
  /** Such as `>= 0.25`; null: without an aim. */
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
    value.toLocaleString('en-US', { maximumSignificantDigits: 4 }),
    unit,
    bar ?? '',
    bar === null ? '' : VERDICTS[`${ok}`],
  ])
  const head = ['figure', 'value', 'unit', 'bar', 'ok']
  const widths = head.map((title, column) =>
    Math.max(...[head, ...rows].map((row) => row[column]!.length), title.length),
  )
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => (column === 1 ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!)))
      .join('  ')
      .trimEnd()
  const paint = (text: string, { ok, bar }: Result) => (bar === null ? text : styleText(ok ? 'green' : 'red', text))
  return [styleText('bold', line(head)), ...rows.map((row, index) => paint(line(row), results[index]!))].join('\n')
}
