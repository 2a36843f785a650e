import { setTimeout } from 'node:timers/promises'
import { checkReceipt, parseKeySet } from '@claimcheck/core'
import t from 'tap'
import { gitTraps } from './git.ts'
import { githubTraps } from './github.ts'
import { isFalseBlame, isFalseVerified, type Trap } from './trap.ts'
import { World } from './world.ts'

const AT_A_TIME = 8
const LEAST_TRAPS = 70

const world = await World.start()
t.teardown(() => world.close())

interface Outcome {
  readonly trap: Trap
  readonly verdict: string
  readonly ms: number
}

const outcomes: Outcome[] = []

async function playTrap(trap: Trap): Promise<Outcome> {
  const startedAt = Date.now()
  const {
    client,
    meanwhile,
    afterMs = 0,
    skewMs = 0,
    action = 'codehost.commit.push',
    ...claim
  } = await trap.play(world)
  const decide = async () => {
    const submitted = await client.submit({ action, ...claim })
    if (submitted.status !== 202) return String(submitted.status)
    if (meanwhile) await setTimeout(afterMs).then(meanwhile)
    const { verdict, reason_code, receipt_id } = await client.decided(submitted.body.claim_id, 30_000)
    await holds(receipt_id, verdict)
    return [verdict, reason_code].filter(Boolean).join('/')
  }
  const verdict = await (skewMs === 0 ? decide() : world.skewed(skewMs, decide))
  const outcome = { trap, verdict, ms: Date.now() - startedAt }
  outcomes.push(outcome)
  return outcome
}

async function holds(receiptId: string, verdict: string): Promise<void> {
  const text = async (path: string) => (await fetch(world.service.url + path)).text()
  const keys = parseKeySet(await text('/.well-known/poaw-keys.json'))
  const report = await checkReceipt(await text(`/v1/receipts/${receiptId}`), { keys })
  if (!report.valid || report.verdict !== verdict)
    throw new Error(`the receipt does not hold: ${JSON.stringify(report)}`)
}

const traps = [...githubTraps, ...gitTraps]
for (const alone of [false, true]) {
  t.test(
    alone ? 'traps that are played by themselves' : 'traps that are played together',
    { jobs: alone ? 1 : AT_A_TIME },
    async (t) => {
      for (const trap of traps.filter((trap) => (trap.alone ?? false) === alone)) {
        t.test(`${trap.name}: ${trap.verdict}`, async (t) => {
          t.equal((await playTrap(trap)).verdict, trap.verdict)
        })
      }
    },
  )
}

t.test('no trap gave a false verified, and none a false blame', async (t) => {
  const verdictOf = ({ verdict }: Outcome) => verdict.split('/')[0]!
  const falseVerified = outcomes.filter((outcome) => isFalseVerified(outcome.trap.truth, verdictOf(outcome)))
  const falseBlame = outcomes.filter((outcome) => isFalseBlame(outcome.trap.truth, verdictOf(outcome)))
  for (const { trap, verdict, ms } of outcomes) {
    t.comment(`${trap.name.padEnd(70)} ${trap.truth.padEnd(11)} ${verdict.padEnd(40)} ${String(ms).padStart(6)} ms`)
  }
  t.comment(`${outcomes.length} traps: ${falseVerified.length} false verified, ${falseBlame.length} false blame`)
  t.equal(outcomes.length, traps.length)
  t.ok(traps.length >= LEAST_TRAPS, `${traps.length} traps`)
  t.strictSame(
    falseVerified.map(({ trap }) => trap.name),
    [],
  )
  t.strictSame(
    falseBlame.map(({ trap }) => trap.name),
    [],
  )
})
