// Test run: end-to-end, slow
/** Rows of the trap table at a real registry, whose answers tell the table's time. */
import { createVirtualClock, liveClaim, type VirtualClock } from '@claimcheck/core/testkit'
import plugin from '@claimcheck/plugin-container'
import t from 'tap'
import { findProgram } from '../../../../test/support/programs.ts'
import { START, type Verdict } from '../../../../test/traps/verifier-table.ts'
import { DockerRegistry, imageOf, indexOf } from '../docker-registry.ts'
import { MINUTE, SECOND } from './repository.ts'

type World = DockerRegistry

interface Row {
  readonly title: string
  readonly right: Verdict
  /** What was there before the claim. */
  readonly before?: (registry: World, name: string) => Promise<unknown>
  /** What happens after it, by its time. */
  readonly happens?: readonly {
    readonly at: number
    readonly act: (registry: World, name: string) => Promise<unknown>
  }[]
  readonly digest?: string
  readonly platforms?: readonly string[]
}

const TAG = '1.4.0'
const [built, arm, hotfix, old] = [
  imageOf('built'),
  imageOf('built', 'linux/arm64/v8'),
  imageOf('hotfix'),
  imageOf('old'),
]
const attestation = imageOf('attestation', 'unknown/unknown')
const multi = indexOf(
  { ...built, platform: 'linux/amd64' },
  { ...arm, platform: 'linux/arm64/v8' },
  { ...attestation, platform: 'unknown/unknown', isAttestation: true },
)

async function pushIndex(registry: World, name: string): Promise<void> {
  for (const child of [built, arm, attestation]) await registry.push(name, child.digest, child)
  await registry.push(name, TAG, multi)
}

const ROWS: readonly Row[] = [
  { title: 'a single image', right: 'verified', before: (registry, name) => registry.push(name, TAG, built) },
  {
    title: 'an index with its platforms',
    right: 'verified',
    before: pushIndex,
    digest: multi.digest,
    platforms: ['linux/arm64', 'linux/x86_64'],
  },
  {
    title: 'an index that lacks a platform',
    right: 'mismatch',
    before: pushIndex,
    digest: multi.digest,
    platforms: ['linux/s390x'],
  },
  {
    title: 'the platform of a single image',
    right: 'verified',
    before: (registry, name) => registry.push(name, TAG, built),
    platforms: ['linux/amd64'],
  },
  {
    title: 'pushed after the claim',
    right: 'verified',
    happens: [{ at: 40 * SECOND, act: (registry, name) => registry.push(name, TAG, built) }],
  },
  {
    title: 'pushed after the tolerance',
    right: 'late',
    happens: [{ at: 12 * MINUTE, act: (registry, name) => registry.push(name, TAG, built) }],
  },
  { title: 'never pushed', right: 'failed' },
  { title: 'other content', right: 'mismatch', before: (registry, name) => registry.push(name, TAG, hotfix) },
  {
    title: 'moved on before the first look',
    right: 'unverifiable',
    async before(registry, name) {
      await registry.push(name, TAG, built)
      await registry.push(name, TAG, hotfix)
    },
  },
  {
    title: 'replaced by an index of it before the first look',
    right: 'unverifiable',
    async before(registry, name) {
      await registry.push(name, TAG, built)
      await pushIndex(registry, name)
    },
  },
  {
    title: 'deleted before the first look',
    right: 'unverifiable',
    async before(registry, name) {
      await registry.push(name, TAG, built)
      await registry.untag(name, TAG)
    },
  },
]

const program = findProgram('docker-registry')
const skip = program === undefined && 'there is no docker-registry: apt-get install docker-registry'
const PASSWORD = 'a-password-that-pulls'
let clock: VirtualClock

async function play(
  { before, happens = [], digest = built.digest, platforms }: Row,
  registry: World,
  name: string,
  username?: string,
) {
  clock = createVirtualClock(START + SECOND)
  await registry.push(name, '1.3.9', old)
  await before?.(registry, name)
  const left = [...happens]
  const host = 'registry.example.com:5000'
  const options = {
    base_url: `http://${host}`,
    ...(username !== undefined && { token_url: registry.issuer, username, password: PASSWORD }),
  }
  return liveClaim({
    plugin,
    connection: { provider: 'oci', options },
    destination: registry.url,
    claim: {
      action: 'container.image.push',
      target: `${host}/${name}`,
      params: { tag: TAG, digest, ...(platforms && { platforms: [...platforms] }) },
      claimedAt: START,
    },
    submittedAt: START + SECOND,
    clock,
    async reach(until) {
      for (let next = left[0]; next && START + next.at <= until; next = left[0]) {
        left.shift()
        await next.act(registry, name)
      }
    },
  })
}

t.setTimeout(300_000)
t.test('at an open registry', { skip }, async (t) => {
  const registry = await DockerRegistry.start(program!, { now: () => clock.now() })
  t.teardown(() => registry.close())
  clock = createVirtualClock(START)
  for (const [at, row] of ROWS.entries()) {
    const { decision, requests, log } = await play(row, registry, `acme/row-${at}`)
    const { value = 'none' } = decision?.verdict ?? {}
    t.equal(value, row.right, `${row.title}: ${value} by ${requests.length} requests`, { log: log.slice(-2) })
  }
})

t.test('at a registry whose tokens another origin issues', { skip }, async (t) => {
  const registry = await DockerRegistry.start(program!, { now: () => clock.now(), password: PASSWORD })
  t.teardown(() => registry.close())
  clock = createVirtualClock(START)
  const [there, , , , , , never] = ROWS as [Row, Row, Row, Row, Row, Row, Row]
  for (const [at, row, username, right] of [
    [1, there, 'user', 'verified'],
    [2, there, 'guest', 'unverifiable'],
    [3, there, undefined, 'unverifiable'],
    [4, never, 'user', 'failed'],
    [5, never, 'guest', 'unverifiable'],
  ] as const) {
    const { decision, log } = await play(row, registry, `acme/private-${at}`, username)
    t.equal(decision?.verdict.value, right, `${row.title}, read as ${username ?? 'anybody'}`, { log: log.slice(-2) })
  }
})
