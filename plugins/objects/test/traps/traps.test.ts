// Test run: slow
/** The trap table of `storage.object.put`: no false `verified`, no false blame, and what is true gets told. */
import { createVirtualClock, liveClaim } from '@claimcheck/core/testkit'
import plugin from '@claimcheck/plugin-objects'
import { playTable, requireFacts, START } from '../../../../test/traps/verifier-table.ts'
import { FALSE } from './false.ts'
import { HONEST } from './honest.ts'
import { KEY, KEYS, type Row } from './row.ts'
import { startS3 } from './s3-server.ts'

const SECOND = 1000

playTable<Row, Awaited<ReturnType<typeof play>>>({
  rows: [...HONEST, ...FALSE],
  play,
  check(t, { scene }, lived, { value }) {
    const { preexisting } = scene()
    if (value === 'verified' && preexisting !== undefined)
      requireFacts(t, lived, { preexisting: preexisting ? true : undefined })
  },
})

async function play(row: Row) {
  const scene = row.scene()
  const { bucket, key = KEY, params = {}, keys = KEYS, claimedMs = 0, submittedMs = claimedMs + SECOND } = scene
  const { service, name } = bucket
  const submittedAt = START + submittedMs
  const clock = createVirtualClock(submittedAt)
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
      submittedAt,
      clock,
      reach: async () => {},
    })
    // A claim that is not taken is not told, either.
    return { life, submittedAt, ...(life.refused && { undecided: 'unverifiable' }) }
  } finally {
    await server.close()
  }
}
