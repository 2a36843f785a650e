// Test run: slow
/** Lives of claims at clusters, at Vercel and at endpoints whose state changes, or shows less than it seems to. */
import { createVirtualClock, liveClaim } from '@claimcheck/core/testkit'
import deploy from '@claimcheck/plugin-deploy'
import t, { type Test } from 'tap'
import {
  CLUSTER_URL,
  DIGEST,
  DOMAIN,
  NAME,
  NAMESPACE,
  OTHER_DIGEST,
  Places,
  PROJECT,
  REPOSITORY,
  TEAM,
  TEAM_ID,
  TOKEN,
  type Workload,
} from './places.ts'

const START = Date.UTC(2026, 10, 2, 9)
const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
const pinned = (digest: string) => `${REPOSITORY}@${digest}`
const TAG = `${REPOSITORY}:v2`

interface World {
  /** Changes what is at the places, by the clock; the first at once. */
  readonly at: Readonly<Record<number, (places: Places) => void>>
  readonly params?: object
  readonly kind?: string
  readonly submittedAfterMs?: number
}

const PROVIDERS = {
  kubernetes: {
    action: 'deploy.revision.live',
    target: (kind: string) => `kubernetes:production/${NAMESPACE}/${kind}/${NAME}`,
    params: { image_digest: DIGEST },
    options: { base_url: CLUSTER_URL, cluster: 'production', token: TOKEN },
  },
  vercel: {
    action: 'deploy.revision.live',
    target: () => `vercel:${TEAM}/${PROJECT}`,
    params: {},
    options: { token: TOKEN, team_id: TEAM_ID },
  },
  version_endpoint: {
    action: 'deploy.version.answers',
    target: () => 'https://api.example.com/version',
    params: { version: '1.4.0', pointer: '/version' },
    options: { base_url: 'https://api.example.com' },
  },
} as const

async function live(t: Test, provider: keyof typeof PROVIDERS, { at, params, kind = 'deployment', ...world }: World) {
  const clock = createVirtualClock(START)
  const places = new Places(clock.now)
  places.kind = kind
  const changes = Object.entries(at).map(([after, change]) => ({ from: START + Number(after), change }))
  const { url, stop } = await places.start()
  t.teardown(stop)
  const own = PROVIDERS[provider]
  const { decision, records, requests } = await liveClaim({
    plugin: deploy,
    connection: { provider, options: own.options },
    destination: url,
    claim: { action: own.action, target: own.target(kind), params: { ...own.params, ...params }, claimedAt: START },
    submittedAt: START + (world.submittedAfterMs ?? 500),
    clock,
    async reach(until) {
      for (const { from, change } of changes) if (from <= until) change(places)
    },
  })
  const last = records.findLast((record) => 'observation' in record)
  const facts = last && 'observation' in last ? last.observation.facts : {}
  return { verdict: decision?.verdict.value, facts, requests: requests.length, records }
}

/** Lets a rollout of an image end some time after the start. */
const rolledOut =
  (
    image: string,
    { imageID = image, workload = {} as Partial<Workload>, after = -DAY, madeAt = START - 30 * DAY } = {},
  ) =>
  (at: Places) => {
    at.workload = { uid: 'uid-1', image, createdAt: madeAt, completedAt: START + after, ...workload }
    at.sets = [{ uid: 'set-1', revision: workload.revision ?? 1, image, createdAt: START + after - MINUTE }]
    const owner = at.kind === 'deployment' ? 'set-1' : 'uid-1'
    at.pods = [1, 2].map(() => ({ owner, imageID, readyAt: START + after - 30_000 }))
  }
const upgrade =
  (after: number, image = pinned(DIGEST)) =>
  (at: Places) => {
    rolledOut(image, { imageID: pinned(DIGEST), after, workload: { revision: 2 } })(at)
    at.sets = [...at.sets, { uid: 'set-0', revision: 1, image: pinned(OTHER_DIGEST), createdAt: START - DAY }]
  }
const before = rolledOut(pinned(OTHER_DIGEST))
/** A rollout of another image, of which an earlier revision has the claimed one. */
const rolledBack = (at: Places) => {
  before(at)
  at.sets = [...at.sets, { uid: 'set-0', revision: 0, image: pinned(DIGEST), createdAt: START - 2 * DAY }]
}
const also =
  (...changes: readonly ((at: Places) => void)[]) =>
  (at: Places) => {
    for (const change of changes) change(at)
  }
const status = (status: object) => (at: Places) => {
  at.workload = { ...at.workload!, status }
}

t.test('an image that is live costs three requests', async (t) => {
  const { verdict, facts, requests } = await live(t, 'kubernetes', { at: { 0: rolledOut(pinned(DIGEST)) } })
  t.equal(verdict, 'verified')
  t.match(facts, { image_digest: DIGEST, pods: 2, pods_ready: 2, pods_with_digest: 2, revision: 1 })
  t.equal(requests, 3)
})

t.test('forms of the digest', async (t) => {
  for (const imageID of [`docker-pullable://${pinned(DIGEST)}`, pinned(DIGEST), DIGEST])
    t.equal((await live(t, 'kubernetes', { at: { 0: rolledOut(TAG, { imageID }) } })).verdict, 'verified', imageID)
  const platform = { imageID: pinned(OTHER_DIGEST) }
  t.equal(
    (await live(t, 'kubernetes', { at: { 0: rolledOut(pinned(DIGEST), platform) } })).verdict,
    'verified',
    'an index',
  )
  t.equal(
    (await live(t, 'kubernetes', { at: { 0: before } })).verdict,
    'unverifiable',
    'only a registry relates the two',
  )
  t.equal((await live(t, 'kubernetes', { at: { 0: rolledBack } })).verdict, 'mismatch', 'an earlier revision names it')
  for (const imageID of [pinned(OTHER_DIGEST), OTHER_DIGEST])
    t.equal((await live(t, 'kubernetes', { at: { 0: rolledOut(TAG, { imageID }) } })).verdict, 'unverifiable', imageID)
})

t.test('when it was live', async (t) => {
  const world = (after: number) => ({ at: { 0: before, [after]: upgrade(after) } })
  t.equal((await live(t, 'kubernetes', world(5 * MINUTE))).verdict, 'verified')
  t.equal((await live(t, 'kubernetes', world(20 * MINUTE))).verdict, 'late', 'looks saw the other image')
  const after = { submittedAfterMs: 25 * MINUTE }
  t.equal((await live(t, 'kubernetes', { ...world(5 * MINUTE), ...after })).verdict, 'verified')
  t.equal((await live(t, 'kubernetes', { ...world(20 * MINUTE), ...after })).verdict, 'late', 'by its ReplicaSet')
  const cut = (at: Places) => {
    upgrade(20 * MINUTE)(at)
    at.sets = [...at.sets, { uid: 'set-t', revision: 0, image: TAG, createdAt: START - 2 * DAY }]
  }
  const tagged = { at: { 0: before, [20 * MINUTE]: cut }, ...after }
  t.equal((await live(t, 'kubernetes', tagged)).verdict, 'unverifiable', 'a tag of before may have led to it')
})

t.test('a rollout that is not complete', async (t) => {
  const one = status({ updatedReplicas: 1, replicas: 3 })
  const old = (at: Places) => {
    at.sets = [...at.sets, { uid: 'set-0', revision: 0, image: pinned(OTHER_DIGEST), createdAt: START - DAY }]
    at.pods = [...at.pods.slice(0, 1), { owner: 'set-0', imageID: pinned(OTHER_DIGEST) }]
  }
  const world = (...changes: readonly ((at: Places) => void)[]) => ({
    at: { 0: also(rolledOut(pinned(DIGEST)), ...changes) },
  })
  t.equal((await live(t, 'kubernetes', world(one, old))).verdict, 'failed')
  t.equal((await live(t, 'kubernetes', world(old))).verdict, 'failed', 'an old pod that the status does not count')
  const leaving = (at: Places) => {
    old(at)
    at.pods = [...at.pods.slice(0, 1), ...at.pods.slice(0, 1), { ...at.pods[1]!, isLeaving: true }]
  }
  t.equal((await live(t, 'kubernetes', world(leaving))).verdict, 'unverifiable', 'an old pod that still serves')
  const unobserved = (at: Places) => {
    at.workload = { ...at.workload!, observed: 2 }
  }
  t.equal((await live(t, 'kubernetes', world(unobserved))).verdict, 'unverifiable', 'a status of before')
  const paused = (at: Places) => {
    at.workload = { ...at.workload!, image: pinned(OTHER_DIGEST), status: { updatedReplicas: 0 } }
  }
  t.equal((await live(t, 'kubernetes', world(paused))).verdict, 'unverifiable', 'paused: the claimed one still runs')
  const next = {
    at: {
      0: also(before, (at) => {
        at.workload = { ...at.workload!, image: pinned(DIGEST), status: { updatedReplicas: 0 } }
      }),
    },
  }
  t.equal((await live(t, 'kubernetes', next)).verdict, 'failed', 'paused: the claimed one never came')
})

t.test('pods that are not there', async (t) => {
  const none = also(rolledOut(pinned(DIGEST), { workload: { replicas: 0 } }), (at) => {
    at.pods = []
  })
  t.equal((await live(t, 'kubernetes', { at: { 0: none } })).verdict, 'unverifiable', 'scaled to nothing')
  const crashing = (completedAt?: number) =>
    also(
      rolledOut(pinned(DIGEST), {
        workload: { completedAt, status: { availableReplicas: 1, readyReplicas: 1 } } as Partial<Workload>,
      }),
      (at) => {
        at.pods = [at.pods[0]!, { ...at.pods[1]!, isReady: false }]
      },
    )
  t.equal((await live(t, 'kubernetes', { at: { 0: crashing() } })).verdict, 'failed', 'it never was complete')
  t.equal((await live(t, 'kubernetes', { at: { 0: crashing(START - DAY) } })).verdict, 'unverifiable', 'it was')
  t.equal((await live(t, 'kubernetes', { at: {} })).verdict, 'failed', 'no workload')
  t.equal(
    (await live(t, 'kubernetes', { at: {}, submittedAfterMs: MINUTE })).verdict,
    'unverifiable',
    'deleted, perhaps',
  )
})

t.test('pods and containers of others', async (t) => {
  const others = also(rolledOut(pinned(OTHER_DIGEST)), (at) => {
    at.pods = [...at.pods, { owner: 'uid-of-a-job', imageID: pinned(DIGEST) }]
  })
  t.equal((await live(t, 'kubernetes', { at: { 0: others } })).verdict, 'unverifiable')
  const sidecar = rolledOut(pinned(OTHER_DIGEST), { workload: { sidecar: pinned(DIGEST) } })
  t.equal((await live(t, 'kubernetes', { at: { 0: sidecar } })).verdict, 'unverifiable', 'no container is named')
  const named = { params: { container: 'web' } }
  t.equal((await live(t, 'kubernetes', { at: { 0: sidecar }, ...named })).verdict, 'unverifiable')
  t.equal((await live(t, 'kubernetes', { at: { 0: rolledOut(pinned(DIGEST)) }, ...named })).verdict, 'verified')
  const again = {
    0: before,
    [5 * MINUTE]: also(rolledOut(pinned(DIGEST), { workload: { uid: 'uid-2' }, madeAt: START }), (at) => {
      at.sets = at.sets.map((set) => ({ ...set }))
    }),
  }
  t.equal((await live(t, 'kubernetes', { at: again })).verdict, 'verified', 'a workload made again')
})

t.test('other kinds of workloads', async (t) => {
  for (const kind of ['statefulset', 'daemonset']) {
    t.equal((await live(t, 'kubernetes', { kind, at: { 0: rolledOut(pinned(DIGEST)) } })).verdict, 'verified', kind)
    t.equal((await live(t, 'kubernetes', { kind, at: { 0: before } })).verdict, 'unverifiable', kind)
    const part = also(before, (at) => {
      at.workload = {
        ...at.workload!,
        image: pinned(DIGEST),
        status: { updatedReplicas: 1, updatedNumberScheduled: 1 },
      }
      at.pods = at.pods.map((pod) => ({ ...pod, image: pinned(OTHER_DIGEST) }))
    })
    t.equal(
      (await live(t, 'kubernetes', { kind, at: { 0: part } })).verdict,
      'unverifiable',
      `${kind}: nothing names the other digest`,
    )
  }
})

const [FIRST, SECOND] = ['dpl_first', 'dpl_second']
const COMMIT = '0123456789abcdef0123456789abcdef01234567'
const aliased =
  (deploymentId: string, after = -DAY, alias: object = { updatedAt: START + after }) =>
  (at: Places) => {
    at.deployments = [
      { id: FIRST, createdAt: START - 2 * DAY, sha: COMMIT },
      { id: SECOND, createdAt: START + 19 * MINUTE, sha: 'f'.repeat(40) },
    ]
    at.alias = { deploymentId, ...alias }
  }

t.test('a deployment at the domain costs five requests', async (t) => {
  const world = { at: { 0: aliased(FIRST) }, params: { deployment: FIRST, commit: COMMIT } }
  const { verdict, facts, requests } = await live(t, 'vercel', world)
  t.equal(verdict, 'verified')
  t.match(facts, { deployment: FIRST, commit: COMMIT, domain: DOMAIN, aliased_at: new Date(START - DAY).toISOString() })
  t.equal(requests, 5)
  t.equal((await live(t, 'vercel', { ...world, params: { commit: COMMIT, domain: DOMAIN } })).requests, 4)
})

t.test('when the domain led to it', async (t) => {
  const params = { deployment: FIRST }
  const world = (after: number) => ({ at: { 0: aliased('dpl_before'), [after]: aliased(FIRST, after) }, params })
  const earlier = (after: number, more = {}) => ({
    at: { 0: aliased(SECOND), [after]: aliased(FIRST, after) },
    params,
    ...more,
  })
  t.equal((await live(t, 'vercel', world(5 * MINUTE))).verdict, 'verified', 'promoted in time')
  t.equal((await live(t, 'vercel', earlier(20 * MINUTE))).verdict, 'late', 'looks saw another')
  const after = { submittedAfterMs: 25 * MINUTE }
  t.equal((await live(t, 'vercel', earlier(5 * MINUTE, after))).verdict, 'verified')
  t.equal(
    (await live(t, 'vercel', earlier(20 * MINUTE, after))).verdict,
    'unverifiable',
    'it may have been there before',
  )
  const young = {
    at: { 0: aliased(FIRST), [20 * MINUTE]: aliased(SECOND, 20 * MINUTE) },
    params: { deployment: SECOND },
  }
  t.equal((await live(t, 'vercel', { ...young, ...after })).verdict, 'late', 'it was made too late')
})

t.test('deployments that are ready, and not at the domain', async (t) => {
  const params = { deployment: FIRST }
  t.equal(
    (await live(t, 'vercel', { at: { 0: aliased(SECOND) }, params })).verdict,
    'mismatch',
    'staged, or rolled back',
  )
  t.equal((await live(t, 'vercel', { at: { 0: aliased(SECOND) }, params: { commit: COMMIT } })).verdict, 'mismatch')
  const rolling = also(aliased(SECOND), (at) => {
    at.rollingRelease = { state: 'ACTIVE', currentDeployment: { id: SECOND }, canaryDeployment: { id: FIRST } }
  })
  t.equal((await live(t, 'vercel', { at: { 0: rolling }, params })).verdict, 'failed', 'for a part of the visitors')
  t.equal((await live(t, 'vercel', { at: {}, params })).verdict, 'unverifiable', 'a wildcard may serve the domain')
  const unsaid = also(aliased(FIRST), (at) => {
    at.deployments = [{ id: FIRST, createdAt: START - DAY }]
  })
  t.equal(
    (await live(t, 'vercel', { at: { 0: unsaid }, params: { commit: COMMIT } })).verdict,
    'unverifiable',
    'from a client',
  )
})

const answers =
  (...versions: readonly (string | number)[]) =>
  (at: Places) => {
    at.versions = versions
  }

t.test('versions that an endpoint answers', async (t) => {
  const verdictOf = async (at: World['at']) => (await live(t, 'version_endpoint', { at })).verdict
  const { verdict, facts, requests } = await live(t, 'version_endpoint', { at: { 0: answers('1.4.0') } })
  t.equal(verdict, 'verified')
  t.strictSame(facts, { self_reported: true, version: '1.4.0' })
  t.equal(requests, 4)
  t.equal(await verdictOf({ 0: answers('1.3.0') }), 'mismatch')
  t.equal(await verdictOf({ 0: answers(404) }), 'failed')
  t.equal(await verdictOf({ 0: answers(503) }), 'unverifiable')
  t.equal(await verdictOf({ 0: answers('<html>') }), 'unverifiable')
  t.equal(await verdictOf({ 0: answers('1.3.0'), [MINUTE]: answers('1.4.0') }), 'verified')
  t.equal(await verdictOf({ 0: answers('1.3.0'), [20 * MINUTE]: answers('1.4.0') }), 'unverifiable', 'too late')
})

t.test('several programs at one address', async (t) => {
  const turns = (every: number) => answers(...Array.from({ length: every - 1 }, () => '1.3.0'), '1.4.0')
  for (const every of [2, 3, 5, 10]) {
    const { verdict } = await live(t, 'version_endpoint', { at: { 0: turns(every) } })
    t.equal(verdict, 'unverifiable', `one answer of ${every}`)
  }
  const ends = { 0: turns(2), [MINUTE]: answers('1.4.0') }
  t.equal((await live(t, 'version_endpoint', { at: ends })).verdict, 'verified')
})

t.test('copies of caches, and answers for one reader', async (t) => {
  const headed = (version: string, versionHeaders: Places['versionHeaders']) => (at: Places) => {
    Object.assign(at, { versions: [version], versionHeaders })
  }
  const verdictOf = async (version: string, headers: Places['versionHeaders']) =>
    (await live(t, 'version_endpoint', { at: { 0: headed(version, headers) } })).verdict
  t.equal(await verdictOf('1.4.0', { age: '20' }), 'verified')
  for (const headers of [{ age: '3600' }, { 'x-cache': 'HIT' }, { date: new Date(START - DAY).toUTCString() }]) {
    t.equal(await verdictOf('1.4.0', headers), 'unverifiable', JSON.stringify(headers))
    t.equal(await verdictOf('1.3.0', headers), 'unverifiable', JSON.stringify(headers))
  }
  t.equal(await verdictOf('1.3.0', { vary: 'accept' }), 'mismatch')
  t.equal(await verdictOf('1.3.0', { 'set-cookie': 'bucket=b' }), 'unverifiable')
})
