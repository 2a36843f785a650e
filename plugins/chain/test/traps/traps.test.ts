// Test run: slow
/** The trap table of `chain.transaction.confirm`: no false `verified`, no false blame, and what is true gets told. */
import { createVirtualClock, liveClaim } from '@claimcheck/core/testkit'
import plugin from '@claimcheck/plugin-chain'
import { playTable, requireFacts, START } from '../../../../test/traps/verifier-table.ts'
import { FALSE } from './false.ts'
import { HONEST } from './honest.ts'
import type { Row } from './row.ts'
import { ARCHIVE, startEndpoint } from './rpc-node.ts'

const SECOND = 1000

playTable<Row, Awaited<ReturnType<typeof play>>>({
  rows: [...HONEST, ...FALSE],
  play,
  check: (t, { scene }, lived, { isRight }) => isRight && requireFacts(t, lived, scene().facts ?? {}),
  // A claim of what was final before costs one check.
  isUsual: ({ scene }) => scene().submittedMs === undefined,
  mostRequests: 100,
})

async function play(row: Row) {
  const scene = row.scene()
  const { chain, key, claimedMs = 0, submittedMs = claimedMs + SECOND, deadlineMs } = scene
  const path = scene.path ?? (key === undefined ? '' : '/v3')
  const submittedAt = START + submittedMs
  const clock = createVirtualClock(submittedAt)
  const nodes = scene.nodes ?? [{ chain, states: ARCHIVE }]
  const { instead, after, mistaken, clockMs = 0 } = scene
  const endpoint = await startEndpoint({ nodes, after, mistaken, instead, path, key, clockMs, now: clock.now })
  const chainId = scene.chainId ?? String(chain.kind.chainId)
  const own =
    key === undefined ? { base_url: 'https://node.example' } : { base_url: 'https://mainnet.infura.io/v3', key }
  try {
    const life = await liveClaim({
      plugin,
      connection: { provider: 'evm', options: { ...own, chain_id: chainId, ...scene.connection } },
      destination: endpoint.url,
      claim: {
        action: 'chain.transaction.confirm',
        target: `eip155:${chainId}`,
        params: scene.params as never,
        claimedAt: START + claimedMs,
        ...(deadlineMs !== undefined && { deadlineAt: START + claimedMs + deadlineMs }),
      },
      submittedAt,
      clock,
      reach: async () => {},
    })
    return { life, submittedAt }
  } finally {
    await endpoint.close()
  }
}
