// Test run: slow
/** The trap table of `container.image.push`: no false `verified`, no false blame, and what is true gets told. */
import { createVirtualClock, liveClaim } from '@claimcheck/core/testkit'
import plugin from '@claimcheck/plugin-container'
import { playTable, requireFacts, START } from '../../../../test/traps/verifier-table.ts'
import { FALSE } from './false.ts'
import { HONEST } from './honest.ts'
import { startRegistry } from './oci-registry.ts'
import type { Row } from './row.ts'

const SECOND = 1000

playTable<Row, Awaited<ReturnType<typeof play>>>({
  rows: [...HONEST, ...FALSE],
  play,
  check: (t, { scene }, lived, { isRight }) => isRight && requireFacts(t, lived, scene().facts ?? {}),
  isExcused: ({ also = [] }, verdict) => also.some((one) => one === verdict),
})

async function play(row: Row) {
  const scene = row.scene()
  const { kind = 'docker-registry', target = 'registry.example.com/acme/api', params } = scene
  const { claimedMs = 20 * SECOND, submittedMs = claimedMs + SECOND, idleMs, connection } = scene
  const submittedAt = START + submittedMs
  const clock = createVirtualClock(submittedAt)
  const registry = await startRegistry({ ...scene, kind }, clock.now, START)
  const options = Object.fromEntries(
    Object.entries(connection ?? {}).map(([name, value]) => [name, value === 'ISSUER' ? registry.issuerUrl : value]),
  )
  try {
    const life = await liveClaim({
      plugin,
      connection: connection ? { provider: 'oci', options } : null,
      destination: registry.url,
      claim: { action: 'container.image.push', target, params: params as never, claimedAt: START + claimedMs },
      submittedAt,
      ...(idleMs !== undefined && { idleUntil: START + idleMs }),
      clock,
      reach: async () => {},
    })
    return { life, submittedAt }
  } finally {
    await registry.close()
  }
}
