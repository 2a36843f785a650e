// Test run: end-to-end, slow
import { setTimeout } from 'node:timers/promises'
import type { ClaimStatus, LogHead, SubmittedClaim } from '@claimcheck/core/api'
import t from 'tap'
import { audit } from '../crash/audit.ts'
import { hangingClaim, presentClaim } from '../crash/claims.ts'
import { Fleet } from '../crash/fleet.ts'
import type { HostProcess } from '../crash/host-process.ts'
import { Ledger } from '../crash/ledger.ts'
import { afterFile } from '../support/after-file.ts'
import { createDatabase } from '../support/database.ts'
import { LONG } from '../support/extent.ts'

const FIRST_ANSWER_MS = 10_000

const fleet = await Fleet.create({
  database: await createDatabase('postgres'),
  hosts: 3,
  checks: { timeout_ms: 2000, first_answer_ms: FIRST_ANSWER_MS },
})
afterFile(() => fleet.remove())
await fleet.startAll()
await fleet.createWorkspace()

async function until<T>(withinMs: number, ask: () => Promise<T | undefined>): Promise<T> {
  const end = Date.now() + withinMs
  for (;;) {
    const value = await ask()
    if (value !== undefined) return value
    if (Date.now() > end) throw new Error(`not within ${withinMs} ms`)
    await setTimeout(20)
  }
}

async function read<T>(host: HostProcess, path: string): Promise<T> {
  return JSON.parse((await fleet.request(host, path))!.text)
}

async function treeSize(host: HostProcess): Promise<number> {
  return (await read<LogHead>(host, '/v1/log/head')).tree_head.body.tree_size
}

// The first, because its audit knows its own claims alone.
t.test(
  'a host that freezes while it holds the log holds up the others for seconds, and then is past',
  LONG,
  async (t) => {
    const [frozen, other] = fleet.hosts as [HostProcess, HostProcess]
    const ledger = new Ledger()
    const submit = async (host: HostProcess) => {
      const known = ledger.plan(presentClaim(`claim-${ledger.claims.size}`))
      return (await ledger.submission(known, fleet.submit(host, known.claim))) || undefined
    }
    await frozen.strike({ signal: 'SIGSTOP', before: 'WITH held' })
    const stuck = submit(frozen)
    const isFrozen = async () =>
      (await Promise.race([fleet.request(frozen, '/healthz'), setTimeout(500, 'frozen')])) === 'frozen' || undefined
    t.ok(await until(10_000, isFrozen))
    const startedAt = Date.now()
    await until(20_000, () => submit(other))
    t.comment(`held up for ${Date.now() - startedAt} ms`)
    frozen.signal('SIGCONT')
    await stuck
    await until(5000, () => submit(frozen))
    await audit(fleet, ledger)
    t.strictSame([...ledger.problems], [])
  },
)

t.test('twenty identical submissions at once, over three hosts, are one claim with one receipt', async (t) => {
  const { claim } = presentClaim('same')
  const before = await treeSize(fleet.hosts[0]!)
  const sent = Array.from({ length: 20 }, (_, index) => fleet.submit(fleet.hosts[index % 3]!, claim))
  const answers = await Promise.all(sent)
  t.strictSame([...new Set(answers.map((answer) => answer?.status))], [202])
  const claims: SubmittedClaim[] = answers.map((answer) => JSON.parse(answer!.text))
  t.equal(claims.filter(({ created }) => created).length, 1)
  t.equal(new Set(claims.map(({ claim_id }) => claim_id)).size, 1)
  const [status] = await until(5000, async () => {
    const all = fleet.hosts.map((host) => read<ClaimStatus>(host, `/v1/claims/${claims[0]!.claim_id}`))
    const statuses = await Promise.all(all)
    return statuses.every(({ state }) => state === 'decided') ? statuses : undefined
  })
  t.match(status, { verdict: 'verified', attempts: 1 })
  t.ok(claims.every(({ receipt_id }) => receipt_id === null || receipt_id === status!.receipt_id))
  for (const host of fleet.hosts) t.equal(await treeSize(host), before + 1)
})

t.test(
  'a host that freezes in a check loses its claim to another, and adds nothing when it goes on',
  LONG,
  async (t) => {
    const [frozen, other] = fleet.hosts as [HostProcess, HostProcess]
    const before = await treeSize(other)
    const leased = hangingClaim('leased').claim
    const submittedAt = Date.now()
    const answer = fleet.submit(frozen, leased)
    const claim = await until(2000, async () => {
      const { claims } = await read<{ claims: ClaimStatus[] }>(other, '/v1/claims')
      return claims.find(({ client_claim_id }) => client_claim_id === leased.client_claim_id)
    })
    frozen.signal('SIGSTOP')
    const ask = () => read<ClaimStatus>(other, `/v1/claims/${claim.claim_id}`)
    t.match(await ask(), { state: 'queued', attempts: 0 }, 'it was frozen while it checked')
    const decided = await until(15_000, async () => {
      const status = await ask()
      return status.state === 'decided' ? status : undefined
    })
    frozen.signal('SIGCONT')
    const late: SubmittedClaim = JSON.parse((await answer)!.text)
    // Past its bound it answers as it knew the claim, and may do so before it looks again.
    const isOverdue = Date.now() - submittedAt > FIRST_ANSWER_MS && late.state === 'queued'
    const known = isOverdue ? { receipt_id: null, attempts: 0 } : { receipt_id: decided.receipt_id, attempts: 1 }
    t.match(late, { claim_id: claim.claim_id, ...known })
    t.match(await ask(), { receipt_id: decided.receipt_id, attempts: 1, verdict: 'unverifiable' })
    t.equal(await treeSize(other), before + 1)
    t.strictSame(await fleet.doctor(), [])
  },
)
