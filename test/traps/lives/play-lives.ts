/** Plays rows of lives, several at a time, and says what came of them. */
import { type Life, liveClaim } from '@claimcheck/core/testkit'
import type { Test } from 'tap'
import { isFalseBlame, isFalseVerified } from '../trap.ts'
import { type Happening, type LifeRow, type Place, type Play, START, titleOf } from './life-row.ts'
import type { Part } from './rows.ts'

const AT_A_TIME = 6
const SECOND = 1000

interface Lived {
  readonly row: LifeRow
  readonly verdict: string
  readonly life: Life
  /** From the outcome to `verified`, or from the deadline to blame. */
  readonly seconds: number | undefined
  readonly requests: number
  /** Those that the deciding look must have. */
  readonly facts: Readonly<Record<string, unknown>>
}

export function playLives(t: Test, { rows, least }: Part): void {
  t.setTimeout(0)
  const outcomes: Lived[] = []
  t.test(`${rows.length} lives`, { jobs: AT_A_TIME }, async (t) => {
    for (const row of rows) {
      t.test(titleOf(row), async (t) => {
        const lived = await live(row)
        outcomes.push(lived)
        t.comment(`${lived.verdict}, ${lived.seconds?.toFixed(1)} s, ${lived.requests} requests`)
        const { right } = row
        const isRight = right.some((one) => lived.verdict === one || lived.verdict.startsWith(`${one}/`))
        t.ok(isRight, `${lived.verdict}, and right is ${right.join(' or ')}`, isRight ? {} : { checks: seenIn(lived) })
        const { seconds, requests } = row.bars ?? {}
        if (seconds !== undefined) t.ok((lived.seconds ?? Number.POSITIVE_INFINITY) <= seconds, `in ${seconds} s`)
        if (requests !== undefined) t.ok(lived.requests <= requests, `by ${requests} requests`)
        for (const [name, value] of Object.entries(lived.facts)) t.same(factsOf(lived)[name], value, name)
      })
    }
  })

  t.test('no life gave a false verified, and none a false blame', async (t) => {
    const value = ({ verdict }: Lived) => verdict.split('/')[0]!
    const falseVerified = outcomes.filter((one) => isFalseVerified(one.row.truth, value(one)))
    const falseBlame = outcomes.filter((one) => isFalseBlame(one.row.truth, value(one)))
    const avoidable = outcomes.filter(
      ({ row, verdict }) =>
        verdict.startsWith('unverifiable') && !row.right.some((one) => one.startsWith('unverifiable')),
    )
    for (const line of figures(outcomes)) t.comment(line)
    t.comment(
      `${outcomes.length} lives: ${falseVerified.length} false verified, ${falseBlame.length} false blame, ${avoidable.length} avoidable unverifiable`,
    )
    t.equal(outcomes.length, rows.length)
    t.ok(rows.length >= least, `${rows.length} lives`)
    t.strictSame(falseVerified.map(nameOf), [])
    t.strictSame(falseBlame.map(nameOf), [])
  })
}

function factsOf({ life: { decision } }: Lived): Readonly<Record<string, unknown>> {
  return decision && 'observation' in decision.basis ? decision.basis.observation.facts : {}
}

const nameOf = ({ row }: Lived) => titleOf(row)

async function live(row: LifeRow): Promise<Lived> {
  const { place, play } = await row.set()
  try {
    return await liveAt(row, place, play)
  } finally {
    await place.close()
  }
}

async function liveAt(row: LifeRow, place: Place, play: Play): Promise<Lived> {
  const { clock, plugin, options = {}, connection, destination } = place
  const { claimedMs = 0, submittedMs = SECOND, claimedAgoMs, deadlineMs, idleUntilMs } = play
  const left = [...(play.happens ?? [])].sort((one, other) => one.at - other.at)
  const reach = async (until: number) => {
    for (let next = left[0]; next && START + next.at <= until; next = left[0]) await happen(next)
  }
  // Requests come side by side: what happens happens once, and in order.
  let reaching = Promise.resolve()
  const inTurn = (until: number) => {
    reaching = reaching.then(() => reach(until))
    return reaching
  }
  async function happen({ act, at }: Happening) {
    left.shift()
    clock.goTo(START + at)
    await act()
  }

  const submittedAt = START + submittedMs
  await reach(submittedAt)
  clock.goTo(submittedAt)
  const { target } = play
  const params = typeof play.params === 'function' ? play.params() : play.params
  const claimedAt = START + claimedMs
  const life = await liveClaim({
    plugin,
    options,
    connection,
    ...(destination === undefined ? {} : { destination }),
    claim: {
      action: row.action,
      target,
      params: params as never,
      claimedAt,
      ...(deadlineMs === undefined ? {} : { deadlineAt: START + deadlineMs }),
    },
    submittedAt,
    ...(claimedAgoMs === undefined ? {} : { claimedAgoMs }),
    clock,
    reach: inTurn,
    ...(idleUntilMs === undefined ? {} : { idleUntil: START + idleUntilMs }),
  })
  const verdict = verdictOf(life)
  const came = play.cameMs ?? 0
  const since = verdict === 'verified' ? Math.max(START + came, submittedAt) : life.deadlineAt
  const seconds = since === undefined ? undefined : (life.decidedAt - since) / SECOND
  const requests = life.requests.filter(({ status }) => status !== 304).length
  return { row, verdict, life, seconds, requests, facts: play.facts ?? {} }
}

function verdictOf({ decision, refused }: Life): string {
  if (refused) return 'refused'
  if (!decision) return 'none'
  const { value, reasonCode } = decision.verdict
  return [value, reasonCode].filter(Boolean).join('/')
}

const SHOWN = 6

/** What the first and the last checks saw, for whoever reads why a row fails. */
function seenIn({ life }: Lived): readonly string[] {
  const { records, log } = life
  const shown = records.length > 2 * SHOWN ? [...records.slice(0, SHOWN), ...records.slice(-SHOWN)] : records
  const seen = shown.map((record) => {
    const at = `${(record.sentAt - START) / SECOND} s`
    if (!('observation' in record)) return `${at}: ${record.failure.code}`
    const { kind, mark, stays, facts, ...rest } = record.observation
    const differs = 'differs' in rest && rest.differs.length > 0 ? ` differs ${rest.differs}` : ''
    return `${at}: ${kind}${differs} ${mark ?? ''} ${stays ? `stays ${JSON.stringify(stays)}` : ''} ${JSON.stringify(facts)}`
  })
  return [...seen, ...log.slice(-2).map(({ message, fields }) => `${message} ${JSON.stringify(fields)}`.slice(0, 300))]
}

/** By action: seconds from the outcome to `verified`, and from the deadline to blame; requests for a claim. */
function figures(outcomes: readonly Lived[]): string[] {
  const actions = [...new Set(outcomes.map(({ row }) => row.action))].sort()
  return actions.map((action) => {
    const own = outcomes.filter(({ row }) => row.action === action)
    const ofVerdict = (...values: string[]) => own.filter(({ verdict }) => values.includes(verdict.split('/')[0]!))
    const seconds = (lives: readonly Lived[]) => spread(lives.flatMap(({ seconds }) => seconds ?? []))
    return [
      `${action}: ${own.length} lives`,
      `to verified ${seconds(ofVerdict('verified'))} s`,
      `from deadline to blame ${seconds(ofVerdict('failed', 'mismatch'))} s`,
      `requests ${spread(own.map(({ requests }) => requests))}`,
    ].join('; ')
  })
}

/** The middle, and the most. */
function spread(numbers: readonly number[]): string {
  if (numbers.length === 0) return 'none'
  const sorted = numbers.toSorted((one, other) => one - other)
  const [middle, most] = [sorted[Math.floor(sorted.length / 2)]!, sorted.at(-1)!]
  return `${Math.round(middle)} (most ${Math.round(most)})`
}
