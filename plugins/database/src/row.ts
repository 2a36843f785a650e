/** The verifier of `database.row.exists`: reads the row of the key, and compares fingerprints of its values. */
import {
  type CheckContext,
  type Claim,
  credential,
  DestinationError,
  defineVerifier,
  type Instant,
  isLongBefore,
  type Observation,
} from '@claimcheck/core/plugin'
import { FINGERPRINTS, type Options } from './connection.ts'
import { formsOf, hasListedForms } from './forms.ts'
import { readMysql } from './mysql/read.ts'
import { readPostgres } from './postgres/read.ts'
import { type Facts, type Params, rowProfile } from './profile.ts'
import { type FoundRow, MOST_FOUND, type ReadTable, type TableRead } from './table-read.ts'

const READERS: Readonly<Record<string, ReadTable>> = { postgres: readPostgres, mysql: readMysql }

/** Milliseconds to which times by two clocks are compared, beside what a look takes. */
const ACCURACY_MS = 100

/** The largest lag of a replica for which what it does not show counts. */
const MOST_LAG_MS = 60_000

export const row = defineVerifier({
  profile: rowProfile,
  providers: Object.keys(READERS),
  limits: { requests: 4, bodyBytes: 2 * 1024 * 1024, timeMs: 30_000 },
  normalize({ target, params }) {
    for (const param of ['key', 'columns'] as const) {
      const names = params[param]?.map(({ column }) => column) ?? []
      if (new Set(names).size < names.length) throw new DestinationError('unsupported_target', { param })
    }
    return { target, params }
  },
  async check(claim, context): Promise<Observation<Facts>> {
    const { target, params } = claim
    const { provider, options } = context.connection!
    const { key, columns = [] } = params
    const asked = {
      table: target.slice(target.indexOf('/') + 1),
      key,
      columns: [...new Set([...key, ...columns].map(({ column }) => column))],
    }
    const startedAt = context.now()
    const read = await READERS[provider]!(options as Options, asked, context)
    return { ...(await observe(claim, { ...read, startedAt }, context)), identity: read.identity }
  },
})

/** A look, with our time at its beginning. */
type Look = TableRead & { readonly startedAt: Instant }

async function observe(claim: Claim<Params>, read: Look, context: CheckContext): Promise<Observation<Facts>> {
  const { rows, kinds, tableId } = read
  const exact = rows.filter(({ isExact }) => isExact)
  const place = { ...(tableId !== undefined && { table_id: tableId }) }
  // Rows beyond those that are read may have the very key, too.
  const isOne = exact.length === 1 && rows.length < MOST_FOUND
  if (!isOne) {
    const found = exact.length > 0 ? 2 : 0
    return unseen(
      { kind: 'absent', facts: { rows: found, ...place } },
      rows.length > 0 || !read.isComparable,
      read,
      context,
    )
  }
  const [found] = exact as [FoundRow]
  const { version } = found
  const committedAt = earliestOf(found, context)
  const facts = {
    rows: 1,
    ...place,
    ...(version !== undefined && { row_version: version }),
    ...(committedAt !== undefined && { committed_at: new Date(committedAt).toISOString() }),
  }
  const { differing, isSure } = await compareColumns(claim, found, kinds, context)
  const counted = claim.params.columns ? { ...facts, columns_differ: differing } : facts
  if (differing === 0) return shown(claim, counted, committedAt, read, context)
  // By our clock, as early as it can have been.
  const isChanged =
    committedAt !== undefined &&
    committedAt + read.startedAt - read.now > Math.min(claim.claimedAt, claim.submittedAt) + ACCURACY_MS
  return unseen({ kind: 'present', differs: ['columns'], facts: counted }, !isSure || isChanged, read, context)
}

/** Reports a row that is as claimed. The commit of its last version is an upper bound: it may have been there before. */
function shown(
  { claimedAt }: Claim<Params>,
  facts: Facts,
  committedAt: Instant | undefined,
  read: TableRead,
  context: CheckContext,
): Observation<Facts> {
  if (committedAt === undefined) return { kind: 'present', differs: [], facts }
  const appeared = { notAfter: committedAt }
  const inTimeUntil = claimedAt + rowProfile.toleranceMs
  const isOld = isLongBefore(appeared, { clockBehindMs: clockBehindMs(read, context) }, { claimedAt, inTimeUntil })
  return {
    kind: 'present',
    differs: [],
    facts: { ...facts, ...(isOld && { preexisting: true as const }) },
    stays: [{ appeared }],
  }
}

/**
 * Reports what does not show the claimed row. There is no log, so it blames only where nothing points to a row that came and went, and the
 * database is the place itself or a copy that is not far behind.
 * @throws DestinationError `forbidden` where a policy may hide the row
 */
function unseen(
  seen: Observation<Facts>,
  mayHaveBeen: boolean,
  { hidesRows, copy, tableId }: TableRead,
  { previous }: CheckContext,
): Observation<Facts> {
  if (hidesRows) throw new DestinationError('forbidden')
  const isMadeAgain = previous.some(({ observation: { facts } }) => (facts.table_id ?? tableId) !== tableId)
  const lagMs = copy ? (copy.lagMs ?? Number.POSITIVE_INFINITY) : 0
  if (mayHaveBeen || isMadeAgain || lagMs > MOST_LAG_MS) return { ...seen, mark: 'may_have_been' }
  return copy ? { ...seen, ageMs: lagMs } : seen
}

/** The earliest time by which a look found this version of the row committed. */
function earliestOf({ version, committedAt }: FoundRow, { previous }: CheckContext): Instant | undefined {
  if (committedAt === undefined) return undefined
  const told = previous.flatMap(({ observation: { facts } }) =>
    facts.row_version === version && typeof facts.committed_at === 'string' ? [Date.parse(facts.committed_at)] : [],
  )
  return Math.min(committedAt, ...told)
}

function clockBehindMs(read: TableRead, { now }: CheckContext): number {
  return now() - read.now
}

/** Counts the claimed columns that have another value, and tells whether it is sure that these values are others. */
async function compareColumns(
  { target, params }: Claim<Params>,
  { values }: FoundRow,
  kinds: TableRead['kinds'],
  context: CheckContext,
): Promise<{ readonly differing: number; readonly isSure: boolean }> {
  const { key, columns = [] } = params
  let differing = 0
  let isSure = true
  for (const { column, fingerprint } of columns) {
    const value = values.get(column) ?? null
    const kind = kinds.get(column) ?? 'other'
    const forms = value === null ? ['null'] : formsOf(kind, value).map((form) => `=${form}`)
    const before = [target, column, ...key.map((one) => one.value)].join('\n')
    const texts = forms.map((form) => `${before}\n${form}`)
    if (await hasFingerprint(texts, fingerprint, context)) continue
    differing++
    isSure &&= value === null || hasListedForms(kind, value)
  }
  return { differing, isSure }
}

async function hasFingerprint(texts: readonly string[], claimed: string, context: CheckContext): Promise<boolean> {
  for (const text of texts) {
    if ((await context.fingerprint(credential(FINGERPRINTS), text)) === claimed) return true
  }
  return false
}
