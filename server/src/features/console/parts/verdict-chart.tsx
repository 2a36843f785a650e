/** A chart of verdicts over time. The bars differ in pattern and colour; a table has the same numbers. */
import { formatInstant, type Instant, VERDICTS } from '@claimcheck/core/rules'
import type { ComponentChildren } from 'preact'
import { type Column, Table } from '../../../web/parts/table.tsx'
import { dayOf, readableUtc } from '../../../web/parts/values.tsx'
import { type Counted, type Span, type Standing, type Stretch, sumOf } from '../../claims/claim-statistics.ts'

/** The parts of a bar, from its bottom to its top. */
const STANDINGS: readonly Standing[] = [...VERDICTS, 'queued']

interface Wording {
  readonly unit: string
  readonly long: string
  /** Writes the beginning of a stretch. */
  readonly written: (at: Instant) => string
}

const WORDING: Readonly<Record<Span, Wording>> = {
  day: { unit: 'hour', long: '24 hours', written: (at) => `${formatInstant(at).slice(11, 16)} UTC` },
  month: { unit: 'day', long: '30 days', written: dayOf },
}

const WIDTH = 480
const HEIGHT = 120
/** The least height of a bar, which keeps a small count visible. */
const LEAST = 3

interface ChartProps {
  readonly counted: Counted
  /** The number of counted claims, for counts that were cut short. */
  readonly most: number
  readonly span: Span
  /** The last day that is counted; undefined for today. */
  readonly lastDay: string | undefined
  /** Makes the path of the list of claims of one verdict. */
  readonly path: (standing: Standing) => string
  /** Markup that stands beside the heading. */
  readonly children: ComponentChildren
}

export function VerdictChart({ counted, most: mostCounted, span, lastDay, path, children }: ChartProps) {
  const { stretches, cutShort } = counted
  const { unit, long, written } = WORDING[span]
  const total = lastDay === undefined ? `in the last ${long}` : `in the ${long} up to ${lastDay}`
  const sums = stretches.map(({ counts }) => sumOf(counts))
  const most = Math.max(...sums)
  const all = sums.reduce((sum, count) => sum + count, 0)
  return (
    <section class="chart" aria-label="Claims over time">
      <div class="chart-head">
        <h2>
          {all.toLocaleString('en')} {all === 1 ? 'claim' : 'claims'} {total}
        </h2>
        {children}
      </div>
      <div class="chart-body">
        <div class="bars">
          <p class="help">
            {most === 0 ? `None in any ${unit}` : `At most ${most.toLocaleString('en')} in one ${unit}`}
          </p>
          <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`Claims in each ${unit}, by verdict`}>
            <Patterns />
            {stretches.map((stretch, index) => (
              <Bar stretch={stretch} most={most} index={index} of={stretches.length} label={written(stretch.start)} />
            ))}
            <line class="axis" x1="0" x2={WIDTH} y1={HEIGHT} y2={HEIGHT} />
          </svg>
          <p class="chart-axis help">
            <span>{written(stretches[0]!.start)}</span>
            <span>{written(stretches[Math.floor(stretches.length / 2)]!.start)}</span>
            <span>{lastDay ?? 'now'}</span>
          </p>
        </div>
        <ul class="legend">
          {STANDINGS.map((standing) => (
            <li>
              <Swatch standing={standing} />
              <a href={path(standing)}>{standing}</a>
              <span class="total">{countOf(stretches, standing).toLocaleString('en')}</span>
            </li>
          ))}
        </ul>
      </div>
      {cutShort && (
        <p class="help">
          Counted among the {mostCounted.toLocaleString('en')} newest claims only: older ones are left out.
        </p>
      )}
      <details id="chart-numbers">
        <summary>The numbers as a table</summary>
        <Numbers stretches={stretches} unit={unit} />
      </details>
    </section>
  )
}

/**
 * One bar of the chart.
 * @param most the sum of the highest bar
 */
function Bar({
  stretch,
  most,
  index,
  of,
  label,
}: Readonly<Record<'most' | 'index' | 'of', number>> & { stretch: Stretch; label: string }) {
  const slot = WIDTH / of
  const counts = STANDINGS.map((standing) => ({ standing, count: stretch.counts[standing] ?? 0 }))
  const present = counts.filter(({ count }) => count > 0)
  // Bars below LEAST are raised; the room for that is reserved here.
  const room = HEIGHT - LEAST * (STANDINGS.length - 1)
  let top = HEIGHT
  return (
    <g>
      <title>{`${label}: ${present.map(({ standing, count }) => `${count} ${standing}`).join(', ') || 'none'}`}</title>
      <rect class="hover" x={round(index * slot)} y="0" width={round(slot)} height={HEIGHT} />
      {present.map(({ standing, count }) => {
        const height = Math.max(LEAST, (count / most) * room)
        top -= height
        return (
          <rect
            class={standing}
            fill={FILLS[standing]}
            stroke="currentcolor"
            stroke-width="0.75"
            x={round(index * slot + slot * 0.15)}
            y={round(top)}
            width={round(slot * 0.7)}
            height={round(height - 0.75)}
          />
        )
      })}
    </g>
  )
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}

const FILLS: Readonly<Record<Standing, string>> = {
  verified: 'currentcolor',
  late: 'url(#marks-late)',
  mismatch: 'url(#marks-mismatch)',
  failed: 'url(#marks-failed)',
  unverifiable: 'url(#marks-unverifiable)',
  queued: 'none',
}

const MARKS = {
  late: 'M-1 5 5-1M-1 9 9-1M3 9 9 3',
  mismatch: 'M-1 5 5-1M-1 9 9-1M3 9 9 3M-1 3 5 9M-1-1 9 9M3-1 9 5',
  failed: 'M0 2h8M0 6h8',
  unverifiable: 'M1.5 2h1M5.5 6h1',
} as const

function Patterns() {
  return (
    <defs>
      {Object.entries(MARKS).map(([standing, path]) => (
        <pattern id={`marks-${standing}`} class={standing} width="8" height="8" patternUnits="userSpaceOnUse">
          <path d={path} stroke="currentcolor" stroke-width={standing === 'failed' ? 2.4 : 1.2} />
        </pattern>
      ))}
    </defs>
  )
}

function Swatch({ standing }: { standing: Standing }) {
  return (
    <svg class={`swatch ${standing}`} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <rect fill={FILLS[standing]} stroke="currentcolor" x="1" y="1" width="14" height="14" rx="2" />
    </svg>
  )
}

function Numbers({ stretches, unit }: { stretches: readonly Stretch[]; unit: string }) {
  const filled = stretches.filter(({ counts }) => sumOf(counts) > 0)
  if (filled.length === 0) return <p>There are no claims in this time.</p>
  const columns: readonly Column<Stretch>[] = [
    [
      `${unit === 'day' ? 'Day' : 'Hour'} from`,
      ({ start }) => <time dateTime={formatInstant(start)}>{readableUtc(start).replace(':00.000', '')}</time>,
      { isRowHead: true },
    ],
    ...STANDINGS.map((standing): Column<Stretch> => [standing, ({ counts }) => counts[standing] ?? 0]),
  ]
  return <Table label={`Claims in each ${unit}, by verdict`} columns={columns} rows={filled} />
}

function countOf(stretches: readonly Stretch[], standing: Standing): number {
  return stretches.reduce((sum, { counts }) => sum + (counts[standing] ?? 0), 0)
}
