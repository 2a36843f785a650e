// Test run: slow
/** The trap table of `storage.object.put`: no false `verified`, no false blame, and what is true gets told. */

import { createVirtualClock, type Life, liveClaim } from '@claimcheck/core/testkit'
import plugin from '@claimcheck/plugin-objects'
import t from 'tap'
import { FALSE } from './false.ts'
import { HONEST } from './honest.ts'
import { KEY, KEYS, type Row, START, type Truth } from './row.ts'
import { startS3 } from './s3-server.ts'

const ROWS: readonly Row[] = [...HONEST, ...FALSE]
const SECOND = 1000
const AT_A_TIME = 4

/** Blame that is right, given what is true. */
const RIGHT_BLAME: Readonly<Record<Truth, readonly string[]>> = {
  'in time': [],
  late: ['late', 'failed'],
  never: ['failed'],
  other: ['mismatch', 'failed'],
  unknowable: [],
}
const BLAME: ReadonlySet<string> = new Set(['late', 'mismatch', 'failed'])

interface Played {
  readonly row: Row
  readonly verdict: string
  readonly reason: string | undefined
  readonly life: Life
  /** From the claim to its verdict. */
  readonly seconds: number
}

async function play(row: Row): Promise<Played> {
  const scene = row.scene()
  const { bucket, key = KEY, params = {}, keys = KEYS, claimedMs = 0, submittedMs = claimedMs + SECOND } = scene
  const { service, name } = bucket
  const clock = createVirtualClock(START + submittedMs)
  const { buckets = [bucket], front } = scene
  const server = await startS3({ buckets, service, keys, now: clock.now, ...front })
  const options = {
    base_url: service.baseUrl,
    region: service.region,
    access_key_id: keys.accessKeyId,
    secret_access_key: keys.secretAccessKey,
    ...(keys.sessionToken !== undefined && { session_token: keys.sessionToken }),
    ...scene.options,
  }
  try {
    const life = await liveClaim({
      plugin,
      connection: { provider: 's3', options },
      destination: server.url,
      claim: { action: 'storage.object.put', target: `${name}/${key}`, params, claimedAt: START + claimedMs },
      submittedAt: START + submittedMs,
      clock,
      reach: async () => {},
    })
    // What is not taken is not told, either.
    const { value = life.refused ? 'unverifiable' : 'none', reasonCode } = life.decision?.verdict ?? {}
    return { row, verdict: value, reason: reasonCode, life, seconds: (life.decidedAt - START - submittedMs) / SECOND }
  } finally {
    await server.close()
  }
}

/** What the first and the last checks saw, for whoever reads why a row fails. */
function seenIn({ life: { records, log, refused, requests } }: Played): readonly unknown[] {
  const shown = records.length > 8 ? [...records.slice(0, 4), ...records.slice(-4)] : records
  const checks = shown.map((record) => {
    const at = `${(record.sentAt - START) / SECOND} s`
    if (!('observation' in record)) return `${at}: ${JSON.stringify(record.failure)}`
    return `${at}: ${JSON.stringify(record.observation)}`
  })
  const asked = requests.slice(0, 6).map(({ key, status }) => `${key} ${status}`)
  const logged = log.slice(-2).map(({ message, fields }) => `${message} ${JSON.stringify(fields)}`.slice(0, 400))
  return [...checks, ...asked, ...logged, ...(refused ? [refused.message, refused.issues] : [])]
}

function factsOf({ life: { decision } }: Played): Readonly<Record<string, unknown>> {
  return decision && 'observation' in decision.basis ? decision.basis.observation.facts : {}
}

const middle = (numbers: readonly number[]) => numbers.toSorted((one, other) => one - other)[numbers.length >> 1] ?? 0

const outcomes: Played[] = []
const only = process.env.ROW
t.setTimeout(0)
t.test('rows', { jobs: AT_A_TIME }, async (t) => {
  for (const row of ROWS) {
    if (only !== undefined && !row.title.includes(only)) continue
    t.test(`${row.title}: ${row.why}`, async (t) => {
      const played = await play(row)
      outcomes.push(played)
      const { verdict, reason, life, seconds } = played
      const isRight = verdict === row.right || row.also.some((one) => one === verdict)
      const told = `${[verdict, reason].filter(Boolean).join('/')} in ${Math.round(seconds)} s by ${life.requests.length} requests`
      t.ok(isRight, `${told}; right is ${row.right}`, isRight ? {} : { checks: seenIn(played) })
      const { preexisting } = row.scene()
      if (verdict === 'verified' && preexisting !== undefined) {
        t.equal(factsOf(played).preexisting ?? false, preexisting, 'whether it was there long before', {
          checks: seenIn(played),
        })
      }
    })
  }
})

t.test('no row is a false verified, and none a false blame', async (t) => {
  const titles = (rows: readonly Played[]) => rows.map(({ row, verdict }) => `${row.title}: ${verdict}`)
  const falseVerified = outcomes.filter(({ row, verdict }) => verdict === 'verified' && row.truth !== 'in time')
  const falseBlame = outcomes.filter(
    ({ row, verdict }) => BLAME.has(verdict) && !RIGHT_BLAME[row.truth].includes(verdict),
  )
  const avoidable = outcomes.filter(
    ({ row, verdict }) =>
      verdict === 'unverifiable' && row.right !== 'unverifiable' && !row.also.includes('unverifiable'),
  )
  const verified = outcomes.filter(({ verdict }) => verdict === 'verified')
  const requests = verified.map(({ life }) => life.requests.length)
  const seconds = verified.map((one) => Math.round(one.seconds))
  t.comment(
    [
      `${outcomes.length} rows: ${falseVerified.length} false verified, ${falseBlame.length} false blame, ${avoidable.length} avoidable unverifiable`,
      `a verified claim took ${middle(requests)} requests (most ${Math.max(...requests)}) and ${middle(seconds)} s (most ${Math.max(...seconds)})`,
    ].join('; '),
  )
  t.strictSame(titles(falseVerified), [])
  t.strictSame(titles(falseBlame), [])
  t.strictSame(titles(avoidable), [])
})
