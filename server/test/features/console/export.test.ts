import type { ClaimFilter, ClaimPage, ListedClaim } from '@claimcheck/server/features/claims/claims'
import { type ExportFormat, exported, MOST_EXPORTED } from '@claimcheck/server/features/console/claims/export'
import t from 'tap'
import { claimNumber } from '../../support/claim-row.ts'

const claim: ListedClaim = claimNumber(1)

/** A list that never ends. */
async function file(format: ExportFormat, page: (filter: ClaimFilter) => Partial<ClaimPage>) {
  const asked: ClaimFilter[] = []
  const source = {
    list: async (filter: ClaimFilter) => {
      asked.push(filter)
      return { claims: [], nextCursor: 'further', cutShort: false, ...page(filter) }
    },
    decidedAt: async () => new Map(),
    receiptUrl: (id: string) => id,
  }
  const parts: string[] = []
  for await (const part of exported(format, { target: 'a' }, source)) parts.push(part)
  return { text: parts.join(''), asked }
}

t.test('a file ends with the most claims that it may have, and says so', async (t) => {
  const full = ({ limit }: ClaimFilter) => ({ claims: Array.from({ length: limit }, () => claim) })
  const { text, asked } = await file('json', full)
  const { claims, complete, note } = JSON.parse(text)
  t.equal(claims.length, MOST_EXPORTED)
  t.strictSame(
    [complete, note],
    [false, 'Only the 10,000 newest claims are here. Export the others with a last day before them.'],
  )
  t.ok(asked.every(({ limit, target }) => limit <= 500 && target === 'a'))
  t.strictSame(
    asked.slice(0, 2).map(({ cursor }) => cursor),
    [undefined, 'further'],
  )
})

t.test('a file for which too much was looked through ends, and says so', async (t) => {
  const { text, asked } = await file('csv', () => ({ cutShort: true }))
  t.equal(asked.length, 10)
  const lines = text.trimEnd().split('\r\n')
  const otherCells = ','.repeat(lines[0]!.split(',').length - 1)
  t.equal(
    lines.at(-1),
    `"Only the 100,000 newest claims were searched. Export the others with a last day before them."${otherCells}`,
  )
})

t.test('nothing goes out before the first claims are read, so that an error can still be answered', async (t) => {
  const failing = {
    list: () => Promise.reject(new Error('away')),
    decidedAt: async () => new Map(),
    receiptUrl: String,
  }
  await t.rejects(exported('csv', {}, failing).next(), { message: 'away' })
})
