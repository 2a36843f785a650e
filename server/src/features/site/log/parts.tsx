/** Parts of the pages of the log: growth, entries, anchors, and the forms that ask for proofs. */

import type { Anchor } from '@claimcheck/core/hosting'
import { type Column, Table } from '../../../web/parts/table.tsx'
import { dayOf, ExactTime, Hash } from '../../../web/parts/values.tsx'
import { publicPaths } from '../../../web/paths.ts'
import type { Day } from '../../log/growth.ts'
import type { EntriesPage } from '../../log/log.ts'
import type { Typed } from './question.ts'

export const logPaths = {
  entry: (index: number) => `${publicPaths.log}/${index}`,
  entriesBefore: (index: number) => `${publicPaths.log}?before=${index}#entries`,
  anchorsBefore: (size: number) => `${publicPaths.log}?anchors=${size}#anchors`,
  proof: `${publicPaths.log}/proof`,
} as const

const WIDTH = 480
const HEIGHT = 96
/** The least height of a bar, which keeps a small count visible. */
const LEAST = 3

export function Growth({ days }: { days: readonly Day[] }) {
  const most = Math.max(1, ...days.map(({ entries }) => entries))
  const all = days.reduce((sum, { entries }) => sum + entries, 0)
  const step = WIDTH / days.length
  return (
    <section class="chart" aria-labelledby="growth">
      <h2 id="growth">
        {counted(all, 'entry', 'entries')} in the last {days.length} days
      </h2>
      <svg
        class="log-growth"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Entries on each day; at most ${most} on one`}
      >
        {days.map(({ start, entries }, index) => {
          const height = entries === 0 ? 0 : Math.max(LEAST, (entries / most) * HEIGHT)
          return (
            <rect x={index * step + 1} y={HEIGHT - height} width={step - 2} height={height}>
              <title>{`${dayOf(start)}: ${entries}`}</title>
            </rect>
          )
        })}
        <line class="axis" x1="0" x2={WIDTH} y1={HEIGHT} y2={HEIGHT} />
      </svg>
      <p class="chart-axis help">
        <span>{dayOf(days[0]!.start)}</span>
        <span>today</span>
      </p>
      <details>
        <summary>The numbers as a table</summary>
        <Table
          label="Entries on each day"
          columns={[
            ['day, in UTC', ({ start }) => dayOf(start)],
            ['entries', ({ entries }) => entries.toLocaleString('en')],
          ]}
          rows={days.toReversed()}
        />
      </details>
    </section>
  )
}

/** The entries of a page, the newest first. */
export function Entries({ page: { treeSize, entries } }: { page: EntriesPage }) {
  const first = entries[0]?.leafIndex ?? 0
  const last = entries.at(-1)?.leafIndex ?? 0
  const size = entries.length
  return (
    <section aria-labelledby="entries">
      <h2 id="entries">Entries</h2>
      <p>An entry shows a position, a hash and a time, and nothing of the receipt behind it.</p>
      {size === 0 ? (
        <p class="help">There are no entries yet.</p>
      ) : (
        <>
          <Table
            label="Entries on this page"
            columns={[
              ['entry', ({ leafIndex }) => <a href={logPaths.entry(leafIndex)}>{leafIndex}</a>],
              [
                'leaf hash',
                ({ leafIndex, leafHash }) => (
                  <Hash value={leafHash} label={`the hash of entry ${leafIndex}`} ends={12} />
                ),
              ],
              ['time', ({ createdAt }) => <ExactTime at={createdAt} />],
            ]}
            rows={entries.toReversed()}
          />
          <p class="pager">
            <span>
              Entries {first} to {last}, of {treeSize.toLocaleString('en')} that begin with 0
            </span>
            {last < treeSize - 1 && (
              <a href={logPaths.entriesBefore(Math.min(treeSize, last + 1 + size))}>Newer entries</a>
            )}
            {first > 0 && <a href={logPaths.entriesBefore(first)}>Older entries</a>}
          </p>
        </>
      )}
    </section>
  )
}

export interface AnchorsProps {
  readonly anchors: readonly Anchor[]
  readonly next: number | null
}

export function Anchors({ anchors, next }: AnchorsProps) {
  return (
    <section aria-labelledby="anchors">
      <h2 id="anchors">Anchors</h2>
      <p>
        An <a href={`${publicPaths.docs}/anchors`}>anchor</a> puts the log's root on a public chain, where the operator
        cannot take it back.
      </p>
      {anchors.length === 0 ? (
        <p class="help">No anchor of this log has landed yet.</p>
      ) : (
        <Table label="Landed anchors" columns={ANCHOR_COLUMNS} rows={anchors} />
      )}
      {next !== null && (
        <p class="pager">
          <a href={logPaths.anchorsBefore(next)}>Older anchors</a>
        </p>
      )}
    </section>
  )
}

const ANCHOR_COLUMNS: readonly Column<Anchor>[] = [
  ['tree size', ({ treeSize }) => treeSize],
  ['chain', ({ chain }) => <code>{chain}</code>],
  [
    'transaction',
    ({ txHash, treeSize }) => <Hash value={txHash} label={`the transaction of the anchor at size ${treeSize}`} />,
  ],
  [
    'time of the block',
    ({ blockTime, blockNumber }) => (
      <>
        <ExactTime at={blockTime * 1000} /> <small>block {blockNumber}</small>
      </>
    ),
  ],
  ['root', ({ rootHash, treeSize }) => <Hash value={rootHash} label={`the root at size ${treeSize}`} />],
]

/**
 * The forms that ask for proofs.
 * @param typed the content of the fields as it was typed
 * @param problem the id of the element that says why the form was refused; the sent form has the focus
 */
export function ProofForms({ typed = {}, treeSize, problem }: { typed?: Typed; treeSize: number; problem?: string }) {
  const sent = typed.leaf === undefined ? 'first' : 'leaf'
  const field = (name: keyof Typed) => ({ name, value: typed[name], problem: name === sent ? problem : undefined })
  return (
    <section aria-labelledby="proofs">
      <h2 id="proofs">Check the log yourself</h2>
      <p>
        Each form shows a proof and how to check it. Your browser checks it, too: it asks this server for the signed
        head and the proof, and computes the rest.
      </p>
      <div class="cards">
        <form class="card" method="get" action={logPaths.proof}>
          <h3>An entry is in the log</h3>
          <Field {...field('leaf')} label="Entry" help="Its number, or its leaf hash." required />
          <Field {...field('size')} label="Size of the tree" help={`Empty: ${treeSize}, the newest.`} />
          <button type="submit">Prove the entry</button>
        </form>
        <form class="card" method="get" action={logPaths.proof}>
          <h3>The log only grew</h3>
          <Field {...field('first')} label="First size" help="Of a head that you kept." required />
          <Field {...field('second')} label="Second size" help={`Empty: ${treeSize}, the newest.`} />
          <button type="submit">Prove the growth</button>
        </form>
      </div>
    </section>
  )
}

function Field({
  label,
  help,
  problem,
  ...input
}: {
  name: keyof Typed
  label: string
  help: string
  value: string | undefined
  problem: string | undefined
  required?: boolean
}) {
  const id = `proof-${input.name}`
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        autofocus={problem !== undefined}
        {...input}
        maxLength={64}
        autocomplete="off"
        aria-describedby={problem === undefined ? `${id}-help` : `${problem} ${id}-help`}
      />
      <p class="help" id={`${id}-help`}>
        {help}
      </p>
    </div>
  )
}

export function counted(count: number, one: string, many: string): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`
}
