/** Plays a table of traps through the whole service, and counts what it must never do: verify what was not so, and blame who did it. */
import { checkEvidence, checkReceipt, parseKeySet } from '@claimcheck/core/receipts'
import t, { type Test } from 'tap'
import { shortened, shortenedCount } from '../support/extent.ts'
import type { Installation } from '../support/installation.ts'
import { isFalseBlame, isFalseVerified, type Play, type Trap } from './trap.ts'
import type { World } from './world.ts'

/** So many are set up, and then wait together, for time that is skipped. */
const AT_A_TIME = 24
const LONGEST_MS = 120_000
/** The stand-ins and the tests run in this thread as well. `test/hosts/stalls.test.ts` holds a host alone to 50 ms. */
const LONGEST_STALL_HERE_MS = 400

interface Outcome {
  readonly trap: Trap
  readonly verdict: string
  readonly ms: number
}

/** @param least the table has as many rows, so that none gets lost */
export function playTable(world: World, table: readonly Trap[], least: number): void {
  const traps = shortened(table)
  const outcomes: Outcome[] = []

  async function playTrap(t: Test, trap: Trap): Promise<Outcome> {
    const startedAt = Date.now()
    // No time is skipped before the claim is submitted: it says when its tolerance ends.
    const { play, answer } = await world.clock.during(() => begin(world, trap))
    if (play.refusal) t.match(JSON.stringify(answer.body), play.refusal)
    const verdict =
      answer.status === 202 ? await verdictOn(t, world, play, answer.body.claim_id) : String(answer.status)
    const outcome = { trap, verdict, ms: Date.now() - startedAt }
    outcomes.push(outcome)
    return outcome
  }

  // Neighbours in the table, which are often alike and slow, are spread over all rounds.
  const rounds = Math.ceil(traps.length / AT_A_TIME)
  for (let round = 0; round < rounds; round++) {
    const together = traps.filter((_, index) => index % rounds === round)
    t.test(`${together.length} traps that are played together`, { jobs: AT_A_TIME }, async (t) => {
      for (const trap of together) {
        t.test(`${trap.name}: ${trap.verdict}`, async (t) => {
          t.equal((await playTrap(t, trap)).verdict, trap.verdict)
        })
      }
    })
  }

  t.test('no trap gave a false verified, and none a false blame', async (t) => {
    const verdictOf = ({ verdict }: Outcome) => verdict.split('/')[0]!
    const falseVerified = outcomes.filter((outcome) => isFalseVerified(outcome.trap.truth, verdictOf(outcome)))
    const falseBlame = outcomes.filter((outcome) => isFalseBlame(outcome.trap.truth, verdictOf(outcome)))
    const avoidable = outcomes.filter(
      ({ trap, verdict }) => verdict.startsWith('unverifiable') && trap.truth !== 'unknowable' && !trap.forgets,
    ).length
    for (const { trap, verdict, ms } of outcomes) {
      t.comment(`${trap.name.padEnd(70)} ${trap.truth.padEnd(11)} ${verdict.padEnd(40)} ${String(ms).padStart(6)} ms`)
    }
    t.comment(
      `${outcomes.length} traps: ${falseVerified.length} false verified, ${falseBlame.length} false blame, ${avoidable} avoidable unverifiable`,
    )
    t.equal(outcomes.length, traps.length)
    t.ok(traps.length >= shortenedCount(least), `${traps.length} traps`)
    t.strictSame(
      falseVerified.map(({ trap }) => trap.name),
      [],
    )
    t.strictSame(
      falseBlame.map(({ trap }) => trap.name),
      [],
    )
  })

  t.test('no trap held the service up', async (t) => {
    t.comment(`the longest that the thread was held: ${world.clock.longestStallMs().toFixed(1)} ms`)
    t.ok(world.clock.longestStallMs() < LONGEST_STALL_HERE_MS)
  })
}

async function begin(world: World, trap: Trap) {
  const play = await trap.play(world)
  const { client, action = 'codehost.commit.push', target, params, claimed_at, deadline_at } = play
  const times = deadline_at === undefined ? { claimed_at } : { claimed_at, deadline_at }
  const submit = () => client.submit({ action, target, params, ...times })
  const answers = await Promise.all([submit(), ...Array.from({ length: play.beside ?? 0 }, submit)])
  return { play, answer: answers.at(-1)! }
}

/** With its reason. */
async function verdictOn(t: Test, { service, clock }: World, play: Play, claimId: string): Promise<string> {
  const { client, meanwhile, afterMs = 0, facts, source } = play
  if (afterMs > 0) await clock.sleep(afterMs)
  if (meanwhile) await clock.during(meanwhile)
  const { verdict, reason_code, receipt_id } = await client.decided(claimId, LONGEST_MS)
  const { body } = await holds(service, receipt_id, verdict)
  if (source) t.match(body.observation.source, source)
  for (const [name, value] of Object.entries(facts ?? {})) t.same(body.observation.facts[name], value, name)
  return [verdict, reason_code].filter(Boolean).join('/')
}

async function holds(service: Installation, receiptId: string, verdict: string) {
  const text = async (path: string) => (await fetch(service.url + path)).text()
  const keys = parseKeySet(await text('/.well-known/poaw-keys.json'))
  const receipt = await text(`/v1/receipts/${receiptId}`)
  const evidence = await text(`/v1/receipts/${receiptId}/evidence`)
  const report = await checkReceipt(receipt, { keys })
  if (!report.valid || report.verdict !== verdict)
    throw new Error(`the receipt does not hold: ${JSON.stringify(report)}`)
  const { body } = JSON.parse(receipt)
  const follows = checkEvidence(body, evidence)
  if (follows.evidence !== 'follows') throw new Error(`it does not follow: ${JSON.stringify(follows)}`)
  return { body }
}
