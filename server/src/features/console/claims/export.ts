/** The export of the claims that the filters show, as a file that is sent while it is read. */
import { formatInstant, type Instant } from '@claimcheck/core/rules'
import { visibleJson } from '@claimcheck/core/words/plain-text'
import { csvRecord } from '../../../base/csv.ts'
import { EXPORTED } from '../../../storage/claim-row.ts'
import { ruleWords } from '../../../storage/erasure-rules.ts'
import { type ClaimChoice, MOST_EXAMINED } from '../../claims/claim-choice.ts'
import type { ClaimFilter, ClaimPage, ListedClaim } from '../../claims/claims.ts'

export const EXPORT_FORMATS = ['csv', 'json'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

export const MOST_EXPORTED = 10_000
/** The most claims that a filter may look through for one file. */
const MOST_SEARCHED = 10 * MOST_EXAMINED
/** The number of claims in one page of a file. Requests of others are served between two pages. */
const PAGE_SIZE = 100

export interface ExportSource {
  list(filter: ClaimFilter): Promise<ClaimPage>
  /** Finds the times at which claims were decided. */
  decidedAt(claimIds: readonly string[]): Promise<ReadonlyMap<string, Instant>>
  receiptUrl(receiptId: string): string
}

interface Exported {
  readonly claim: ListedClaim
  readonly decidedAt: Instant | undefined
  readonly receiptUrl: string | null
}

type Cell = (exported: Exported) => unknown

/** The columns of the file: those of a claim's row, and those that follow from it. */
const COLUMNS: Readonly<Record<string, Cell>> = {
  ...Object.fromEntries(EXPORTED.map((column) => [column.name, cellOf(column)])),
  client_claim_id: ({ claim }) => (claim.erasure ? null : claim.clientClaimId),
  decided_at: ({ decidedAt }) => (decidedAt === undefined ? null : formatInstant(decidedAt)),
  receipt_url: ({ receiptUrl }) => receiptUrl,
  erased_at: ({ claim: { erasure } }) => (erasure ? formatInstant(erasure.erasedAt) : null),
  erased_because_of: ({ claim: { erasure } }) => (erasure ? ruleWords(erasure.rule, erasure.reference) : null),
}

function cellOf({ field, type }: (typeof EXPORTED)[number]): Cell {
  return ({ claim }) => {
    const value = claim[field as keyof ListedClaim]
    return type === 'bigint' && typeof value === 'number' ? formatInstant(value) : value
  }
}

const NAMES = Object.keys(COLUMNS)

interface Form {
  readonly type: string
  readonly before: string
  row(exported: Exported, isFirst: boolean): string
  /**
   * Writes the end of the file.
   * @param note says why the file is not complete; undefined if it is
   */
  after(note: string | undefined): string
}

const FORMS: Readonly<Record<ExportFormat, Form>> = {
  csv: {
    type: 'text/csv; charset=utf-8; header=present',
    before: csvRecord(NAMES),
    row: (exported) => csvRecord(Object.values(COLUMNS).map((cell) => textOf(cell(exported)))),
    // The note's record has as many cells as every other.
    after: (note) => (note === undefined ? '' : csvRecord(NAMES.map((_, index) => (index === 0 ? note : null)))),
  },
  json: {
    type: 'application/json; charset=utf-8',
    before: '{"claims":[',
    row: (exported, isFirst) => {
      const members = Object.entries(COLUMNS).map(([name, cell]) => [name, cell(exported)])
      return `${isFirst ? '' : ','}\n${visibleJson(JSON.stringify(Object.fromEntries(members)))}`
    },
    after: (note) =>
      `\n],"complete":${note === undefined}${note === undefined ? '' : `,"note":${JSON.stringify(note)}`}}\n`,
  },
}

function textOf(value: unknown): string | null {
  return value === null || typeof value === 'string' ? value : JSON.stringify(value)
}

export function exportType(format: ExportFormat): string {
  return FORMS[format].type
}

/** Yields the file in parts, newest claim first. Its end says when it is not complete. */
export async function* exported(
  format: ExportFormat,
  choice: ClaimChoice,
  source: ExportSource,
): AsyncGenerator<string, void> {
  const { before, row, after } = FORMS[format]
  let count = 0
  let examined = 0
  let cursor: string | null = null
  do {
    const limit = Math.min(PAGE_SIZE, MOST_EXPORTED - count)
    const place = cursor === null ? {} : { cursor }
    const page: ClaimPage = await source.list({ ...choice, ...place, limit, mostExamined: MOST_EXAMINED })
    const decidedAt = await source.decidedAt(page.claims.map(({ claimId }) => claimId))
    const rows = page.claims.map((claim, index) =>
      row(
        {
          claim,
          // A receipt in an archive alone tells no time here, so that of the claim's check stands in.
          decidedAt:
            decidedAt.get(claim.claimId) ?? (claim.receiptId === null ? undefined : claim.lastCheck?.answeredAt),
          receiptUrl: claim.receiptId === null ? null : source.receiptUrl(claim.receiptId),
        },
        count + index === 0,
      ),
    )
    // The beginning goes out now and not earlier: where nothing can be read, there is still an error to answer with.
    yield (count + examined === 0 ? before : '') + rows.join('')
    count += rows.length
    examined += page.cutShort ? MOST_EXAMINED : 0
    cursor = page.nextCursor
  } while (cursor !== null && count < MOST_EXPORTED && examined < MOST_SEARCHED)
  yield after(cursor === null ? undefined : noteOf(count))
}

function noteOf(count: number): string {
  const cut =
    count < MOST_EXPORTED
      ? `Only the ${MOST_SEARCHED.toLocaleString('en')} newest claims were searched.`
      : `Only the ${MOST_EXPORTED.toLocaleString('en')} newest claims are here.`
  return `${cut} Export the others with a last day before them.`
}
