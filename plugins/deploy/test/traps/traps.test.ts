// Test run: slow
/** The trap table of `deploy.revision.live` and `deploy.version.answers`: no false `verified`, no false blame, and what is true gets told. */
import plugin from '@claimcheck/plugin-deploy'
import { shareOf } from '../../../../test/support/extent.ts'
import { playScene } from '../../../../test/traps/scripted-life.ts'
import { playTable, requireFacts } from '../../../../test/traps/verifier-table.ts'
import { KUBERNETES_FALSE } from './kubernetes-false.ts'
import { KUBERNETES_HONEST } from './kubernetes-honest.ts'
import { type Row, setOf } from './row.ts'
import { VERCEL_FALSE } from './vercel-false.ts'
import { VERCEL_HONEST } from './vercel-honest.ts'
import { VERSION_ROWS } from './version-rows.ts'

const ROWS = [...KUBERNETES_HONEST, ...KUBERNETES_FALSE, ...VERCEL_HONEST, ...VERCEL_FALSE, ...VERSION_ROWS]
/** The usual run plays every so many rows. */
const SHARE = 5

playTable<Row, Awaited<ReturnType<typeof play>>>({
  rows: process.env.ROW === undefined ? shareOf(ROWS, 0, SHARE) : ROWS,
  play,
  nameOf: ({ provider, title }) => `${provider}: ${title}`,
  check(t, { scene }, lived, { value }) {
    const { life, faults, secrets } = lived
    t.strictSame([...new Set(faults)], [], 'answers are as published, and requests as documented')
    const kept = JSON.stringify([life.records, life.log])
    for (const secret of secrets) t.notOk(kept.includes(secret), 'no read keeps a secret')
    if (value === 'verified') requireFacts(t, lived, scene().facts ?? {})
  },
  // The rules blame an outcome that came and went before the first look, as the receipt says with `largest_gap_ms`.
  isExcused: ({ also = [] }, verdict) => also.some((one) => one === verdict),
})

async function play({ provider, scene: make }: Row) {
  const scene = make()
  const { answer, action, options, target, secrets } = setOf(provider, scene)
  const lived = await playScene(scene, {
    plugin,
    connection: options ? { provider, options } : null,
    action,
    target,
    answer,
  })
  return { ...lived, secrets }
}
