// Test run: slow
/** A list by several filters looks through so many claims for a page, and leads on: the database stays free for others. */
import { createClient } from '@claimcheck/client'
import { newId } from '@claimcheck/server/base/ids'
import type { ClaimRow } from '@claimcheck/server/storage/claim-row'
import t from 'tap'
import { claimNumber } from '../../server/test/support/claim-row.ts'
import { type Client, Installation } from '../support/installation.ts'

const MANY = 25_000
const BATCH = 5000
const HOUR_MS = 3_600_000

t.test('pages of two filters end early, and together they have all that fits', async (t) => {
  const installation = await Installation.during(t)
  const workspace = await many(installation)
  for (const [query, found, pages] of [
    ['agent_id=rare&action=test.outcome.reach', ['target-0'], 1],
    ['agent_id=frequent&action=test.rare.reach', ['target-1'], 3],
    ['agent_id=frequent&state=queued', ['target-2', 'target-1'], 1],
    ['agent_id=frequent&verdict=mismatch', [], 3],
    ['action=test.rare.reach&state=decided', [], 1],
    ['verdict=mismatch&state=decided', ['target-0'], 1],
    ['verdict=mismatch', ['target-0'], 1],
    ['action=test.rare.reach', ['target-1'], 1],
    ['state=queued', ['target-2', 'target-1'], 1],
  ] as const) {
    const listed: string[] = []
    let cursor: string | null = ''
    let asked = 0
    for (; cursor !== null; asked++) {
      const { status, body } = await workspace.get(`/v1/claims?${query}${cursor && `&cursor=${cursor}`}`)
      t.equal(status, 200)
      listed.push(...body.claims.map(({ target }: { target: string }) => target))
      cursor = body.next_cursor
    }
    t.strictSame([listed, asked], [found, pages], query)
  }

  const client = createClient({ baseUrl: installation.url, key: workspace.key })
  const listed: string[] = []
  for await (const { target } of client.list({ agent_id: 'frequent', action: 'test.rare.reach' })) listed.push(target)
  t.strictSame(listed, ['target-1'], 'the client goes on')
})

/** A workspace in which nearly all claims are one agent's, of one action and one verdict. */
async function many(installation: Installation): Promise<Client> {
  const client = await installation.client('many')
  const { workspaceId } = client
  const decided = { state: 'decided', verdict: 'verified', dueAt: null, nextCheckAt: null, momentAt: null } as const
  const waiting = { dueAt: Date.now() + HOUR_MS }
  const rare: readonly Partial<ClaimRow>[] = [
    { ...decided, agentId: 'rare', verdict: 'mismatch' },
    { ...waiting, action: 'test.rare.reach' },
    waiting,
  ]
  for (let start = 0; start < MANY; start += BATCH) {
    const rows = Array.from({ length: BATCH }, (_, index) => {
      const common = { workspaceId, payer: workspaceId, agentId: 'frequent' }
      const number = start + index
      const claim = claimNumber(number, { ...common, ...(rare[number] ?? decided) })
      return { ...claim, claimId: newId('clm_', claim.submittedAt), target: `target-${number}` }
    })
    await installation.claimcheck.storage.write((tx) => tx.claims.insertNew(rows))
  }
  return client
}
