/** The export of the claims that the filters show, as a file that is sent while it is read. */
import { formatInstant, type Instant } from '@claimcheck/core/rules'
import { visibleJson } from '@claimcheck/core/words/plain-text'
import { csvRecord } from '../../../base/csv.ts'
import { EXPORTED } from '../../../storage/claim-row.ts'
import { ruleWords } from '../../../storage/erasure-rules.ts'
import { type ClaimChoice, MOST_EXAMINED } from '../../claims/claim-choice.ts'
import type { ClaimFilter, ClaimPage, ListedClaim } from '../../claims/claims.ts'

export const MOST_EXPORTED = 10_000
/** The most claims that a filter may look through for one file. */
const MOST_SEARCHED = 10 * MOST_EXAMINED
/** The number of claims in one page of a file. Requests of others are served between two pages. */
const PAGE_SIZE = 100

interface ExportedClaim extends ListedClaim {
  readonly decidedAt: Instant | undefined
  readonly receiptUrl: string | null
}

type Cell = (claim: ExportedClaim) => unknown

/** The columns of the file: those of a claim's row, and those that follow from it. */
const COLUMNS: Readonly<Record<string, Cell>> = {
  ...Object.fromEntries(EXPORTED.map((column) => [column.name, cellOf(column)])),
  client_claim_id: ({ erasure, clientClaimId }) => (erasure ? null : clientClaimId),
  decided_at: ({ decidedAt }) => (decidedAt === undefined ? null : formatInstant(decidedAt)),
  receipt_url: ({ receiptUrl }) => receiptUrl,
  erased_at: ({ erasure }) => (erasure ? formatInstant(erasure.erasedAt) : null),
  erased_because_of: ({ erasure }) => (erasure ? ruleWords(erasure.rule, erasure.reference) : null),
}

function cellOf({ field, type }: (typeof EXPORTED)[number]): Cell {
  return (claim) => {
    const value = claim[field as keyof ListedClaim]
    return type === 'bigint' && typeof value === 'number' ? formatInstant(value) : value
  }
}

const NAMES = Object.keys(COLUMNS)

interface Form {
  readonly type: string
  readonly before: string
  row(cells: Readonly<Record<string, unknown>>, isFirst: boolean): string
  /** Writes the end of the file. @param note says why the file is not complete; undefined if it is */
  after(note: string | undefined): string
}

export const EXPORT_FORMS: Readonly<Record<'csv' | 'json', Form>> = {
  csv: {
    type: 'text/csv; charset=utf-8; header=present',
    before: csvRecord(NAMES),
    row: (cells) =>
      csvRecord(
        Object.values(cells).map((cell) => (cell === null || typeof cell === 'string' ? cell : JSON.stringify(cell))),
      ),
    // The note's record has as many cells as every other.
    after: (note) => (note === undefined ? '' : csvRecord(NAMES.map((_, index) => (index === 0 ? note : null)))),
  },
  json: {
    type: 'application/json; charset=utf-8',
    before: '{"claims":[',
    row: (cells, isFirst) => `${isFirst ? '' : ','}\n${visibleJson(JSON.stringify(cells))}`,
    after: (note) => `\n],${JSON.stringify({ complete: note === undefined, note }).slice(1)}\n`,
  },
}

export type ExportFormat = keyof typeof EXPORT_FORMS
export const EXPORT_FORMATS = Object.keys(EXPORT_FORMS) as ExportFormat[]

/** Yields the file in parts, newest claim first. Its end says when it is not complete. */
export async function* exported(
  format: ExportFormat,
  choice: ClaimChoice,
  source: {
    list(filter: ClaimFilter): Promise<ClaimPage>
    /** Finds the times at which claims were decided. */
    decidedAt(claimIds: readonly string[]): Promise<ReadonlyMap<string, Instant>>
    receiptUrl(receiptId: string): string
  },
): AsyncGenerator<string, void> {
  const { before, row, after } = EXPORT_FORMS[format]
  let count = 0
  let examined = 0
  let cursor: string | undefined
  do {
    const limit = Math.min(PAGE_SIZE, MOST_EXPORTED - count)
    const page = await source.list({ ...choice, cursor, limit, mostExamined: MOST_EXAMINED })
    const times = await source.decidedAt(page.claims.map(({ claimId }) => claimId))
    const rows = page.claims.map((claim, index) => {
      const { claimId, receiptId, lastCheck } = claim
      // A receipt in an archive alone tells no time here, so that of the claim's check stands in.
      const decidedAt = times.get(claimId) ?? (receiptId === null ? undefined : lastCheck?.answeredAt)
      const all = { ...claim, decidedAt, receiptUrl: receiptId === null ? null : source.receiptUrl(receiptId) }
      const cells = Object.entries(COLUMNS).map(([name, cell]) => [name, cell(all)])
      return row(Object.fromEntries(cells), count + index === 0)
    })
    // The beginning goes out now and not earlier: where nothing can be read, there is still an error to answer with.
    yield (count + examined === 0 ? before : '') + rows.join('')
    count += rows.length
    examined += page.cutShort ? MOST_EXAMINED : 0
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined && count < MOST_EXPORTED && examined < MOST_SEARCHED)
  yield after(cursor === undefined ? undefined : noteOf(count))
}

function noteOf(count: number): string {
  const [most, done] = count < MOST_EXPORTED ? [MOST_SEARCHED, 'were searched'] : [MOST_EXPORTED, 'are here']
  return `Only the ${most.toLocaleString('en')} newest claims ${done}. Export the others with a last day before them.`
}
