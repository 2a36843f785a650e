/** Claims at places without a log are looked at every 15 seconds: the first twenty of a workspace. */
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { openClaimcheck } from '@claimcheck/server/claimcheck'
import { loadConfig } from '@claimcheck/server/features'
import { MOST_WATCHED } from '@claimcheck/server/features/claims/watches'
import t from 'tap'

const SECOND_MS = 1000

t.test('the first twenty waiting claims of a workspace are watched, while that can tell a lie', async (t) => {
  const folder = t.testdir()
  const changing = {
    use: resolve('build/test/plugins/changing.js'),
    trusted: true,
    with: { rules_version: 2, tolerance_ms: 50 * SECOND_MS },
  }
  writeFileSync(join(folder, 'claimcheck.config.json'), JSON.stringify({ plugins: [changing] }))
  const time = { aheadMs: 0 }
  const now = () => Date.now() + time.aheadMs
  const claimcheck = await openClaimcheck(loadConfig({ LOG_LEVEL: 'silent' }, folder), { plugins: true, now })
  t.teardown(async () => {
    await claimcheck.adjudication.idle()
    await claimcheck.sequencer.idle()
    await claimcheck.close()
  })
  const { adjudication, claims, signingKeys, storage, workspaces } = claimcheck
  await signingKeys.ensureLog()
  const [busy, other] = [await workspaces.create('busy'), await workspaces.create('other')]

  async function submit(workspaceId: string, number: number): Promise<string> {
    const submitter = { workspaceId, payer: workspaceId, submittedBy: 'key_1', speaksFor: 'any' } as const
    const input = { clientClaimId: `claim-${number}`, agentId: 'agent-1', action: 'test.rules.change', target: 'there' }
    const { claim } = await claims.submit(submitter, { ...input, params: { see: 'absent' }, claimedAt: now() })
    return claim.claimId
  }
  async function lookAtAll(ids: readonly string[]) {
    for (const claim of await storage.read.claims.byIds(ids)) {
      const entry = { kind: 'looking', shared: undefined, end() {} } as const
      await adjudication.advance(claim, await storage.read.claims.history(claim.claimId), entry)
    }
    return storage.read.claims.byIds(ids)
  }

  const ids: string[] = []
  for (let number = 0; number < MOST_WATCHED + 2; number++) ids.push(await submit(busy.id, number))
  for (const gapMs of [3, 4, 5]) {
    time.aheadMs += gapMs * SECOND_MS
    await lookAtAll(ids)
  }
  const rows = await storage.read.claims.byIds(ids)
  const watched = rows.filter((row) => row.watched === 1)
  t.equal(watched.length, MOST_WATCHED)
  const gapOf = (row: (typeof rows)[number]) => row.nextCheckAt! - row.lastCheck!.sentAt
  t.ok(watched.every((row) => gapOf(row) <= 15 * SECOND_MS))
  t.ok(rows.filter((row) => row.watched === 0).every((row) => gapOf(row) > 15 * SECOND_MS))
  t.equal(await storage.read.claims.watchedCount(busy.id), MOST_WATCHED)
  t.equal((await storage.read.claims.due('watching', now() + 16 * SECOND_MS, 100, [])).length, MOST_WATCHED)

  const late = await submit(other.id, 0)
  for (const gapMs of [3, 4, 5]) {
    time.aheadMs += gapMs * SECOND_MS
    await lookAtAll([late])
  }
  t.match(await storage.read.claims.byIds([late]), [{ watched: 1 }], 'another workspace has its own twenty')

  time.aheadMs += 60 * SECOND_MS
  await lookAtAll(ids)
  t.equal(await storage.read.claims.watchedCount(busy.id), 0, 'after the tolerance nothing is watched')
})
