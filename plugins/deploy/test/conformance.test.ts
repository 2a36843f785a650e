// Test run: slow
/** The plugin passes the conformance kit at a cluster, at Vercel and at an endpoint of its tests. */
import { type Destination, verifierConformance } from '@claimcheck/core/testkit'
import deploy from '@claimcheck/plugin-deploy'
import t from 'tap'
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
} from './places.ts'

t.setTimeout(500_000)

const MADE = Date.now() - 3_600_000
const [FIRST, SECOND] = ['dpl_first', 'dpl_second']
const COMMIT = '0123456789abcdef0123456789abcdef01234567'

const pinned = (digest: string) => `${REPOSITORY}@${digest}`

function run(at: Places, digest: string): void {
  at.workload = { uid: 'uid-1', image: pinned(digest), createdAt: MADE, completedAt: MADE + 30_000 }
  at.sets = [{ uid: 'set-1', revision: 1, image: pinned(digest), createdAt: MADE }]
  at.pods = [1, 2].map(() => ({ owner: 'set-1', imageID: pinned(digest) }))
}

const SITUATIONS = {
  missing: () => {},
  live: (at) => {
    run(at, DIGEST)
    at.deployments = [{ id: FIRST, createdAt: MADE, sha: COMMIT }]
    at.alias = { deploymentId: FIRST, updatedAt: MADE + 5000 }
    at.versions = ['1.4.0']
  },
  another: (at) => {
    run(at, OTHER_DIGEST)
    at.sets = [...at.sets, { uid: 'set-0', revision: 0, image: pinned(DIGEST), createdAt: MADE }]
    at.deployments = [{ id: SECOND, createdAt: MADE, sha: 'f'.repeat(40) }]
    at.alias = { deploymentId: SECOND, updatedAt: MADE + 5000 }
    at.versions = ['1.3.0']
  },
  rolling: (at) => {
    run(at, DIGEST)
    at.workload = { ...at.workload!, status: { updatedReplicas: 1, replicas: 3 }, revision: 2 }
    at.sets = [
      { ...at.sets[0]!, revision: 2 },
      { uid: 'set-0', revision: 1, image: pinned(OTHER_DIGEST), createdAt: MADE },
    ]
    at.pods = [...at.pods.slice(0, 1), ...[1, 2].map(() => ({ owner: 'set-0', imageID: pinned(OTHER_DIGEST) }))]
    at.deployments = [
      { id: FIRST, createdAt: MADE },
      { id: SECOND, createdAt: MADE },
    ]
    at.alias = { deploymentId: SECOND, updatedAt: MADE + 5000 }
    at.rollingRelease = { state: 'ACTIVE', currentDeployment: { id: SECOND }, canaryDeployment: { id: FIRST } }
  },
  hidden: (at) => {
    at.mayRead = false
  },
} as const satisfies Record<string, (at: Places) => void>
type Situation = keyof typeof SITUATIONS

let places: Places
const destination: Destination<Situation, undefined> = {
  start({ now }) {
    places = new Places(now)
    return places.start()
  },
  set(situation) {
    Object.assign(places, { workload: undefined, sets: [], pods: [], mayRead: true, deployments: [], alias: undefined })
    Object.assign(places, { rollingRelease: undefined, versions: [404] })
    SITUATIONS[situation](places)
    return undefined
  },
}

const common = { plugin: deploy, destination, before: 'another' } as const

t.test('Kubernetes', async (t) => {
  const claim = (image_digest = DIGEST) => ({
    action: 'deploy.revision.live',
    target: `kubernetes:production/${NAMESPACE}/deployment/${NAME}`,
    params: { image_digest },
  })
  const report = await verifierConformance(t, {
    ...common,
    connection: {
      provider: 'kubernetes',
      options: { base_url: CLUSTER_URL, cluster: 'production', token: TOKEN },
      target: `${NAMESPACE}/deployment/${NAME}`,
    },
    cases: [
      {
        name: 'live in all pods',
        situation: 'live',
        claim: claim(),
        sees: { kind: 'present', facts: { image_digest: DIGEST, pods: 2, pods_ready: 2, pods_with_digest: 2 } },
        verdict: 'verified',
      },
      {
        name: 'another image',
        situation: 'another',
        claim: claim(),
        sees: { kind: 'present', differs: ['image_digest'], facts: { image_digest: OTHER_DIGEST } },
        verdict: 'mismatch',
      },
      {
        name: 'a rollout that does not end',
        situation: 'rolling',
        claim: claim(),
        sees: { kind: 'absent', facts: { pods: 3, pods_ready: 3, pods_with_digest: 1 } },
        verdict: 'failed',
      },
      {
        name: 'no such workload',
        situation: 'missing',
        absentRoutes: [/deployments\/web$/],
        claim: claim(),
        sees: { kind: 'absent' },
        verdict: 'failed',
      },
      {
        name: 'a namespace that the role does not let read',
        situation: 'hidden',
        claim: claim(),
        sees: { error: 'forbidden' },
        verdict: 'unverifiable',
      },
    ],
  })
  t.ok(report.ok)
})

t.test('Vercel', async (t) => {
  // A domain without a deployment.
  const absentRoutes = [/aliases/]
  const claim = (params: object) => ({
    action: 'deploy.revision.live',
    target: `vercel:${TEAM}/${PROJECT}`,
    params: params as never,
  })
  const report = await verifierConformance(t, {
    ...common,
    connection: { provider: 'vercel', options: { token: TOKEN, team_id: TEAM_ID }, target: PROJECT },
    cases: [
      {
        name: 'at the domain of production',
        situation: 'live',
        absentRoutes,
        claim: claim({ deployment: FIRST, commit: COMMIT }),
        sees: { kind: 'present', facts: { deployment: FIRST, commit: COMMIT, domain: DOMAIN, ready_state: 'READY' } },
        verdict: 'verified',
      },
      {
        name: 'another deployment at the domain',
        situation: 'another',
        absentRoutes,
        claim: claim({ deployment: FIRST, domain: DOMAIN }),
        sees: { kind: 'present', differs: ['deployment'], facts: { deployment: SECOND } },
        verdict: 'mismatch',
      },
      {
        name: 'a rolling release that does not end',
        situation: 'rolling',
        absentRoutes,
        claim: claim({ deployment: FIRST }),
        sees: { kind: 'absent', facts: { deployment: SECOND } },
        verdict: 'failed',
      },
      {
        name: 'a domain that leads nowhere',
        situation: 'missing',
        absentRoutes,
        claim: claim({ deployment: FIRST }),
        sees: { kind: 'absent', mark: 'may_have_been' },
        verdict: 'unverifiable',
      },
    ],
  })
  t.ok(report.ok)
})

t.test('an endpoint of a version', async (t) => {
  const claim = {
    action: 'deploy.version.answers',
    target: 'https://api.example.com/version',
    params: { version: '1.4.0', pointer: '/version' },
  }
  const open = { connection: null, absentRoutes: [/version$/] }
  const report = await verifierConformance(t, {
    ...common,
    connection: { provider: 'version_endpoint', options: { base_url: 'https://api.example.com' } },
    cases: [
      {
        ...open,
        name: 'the claimed version',
        situation: 'live',
        claim,
        sees: { kind: 'present', facts: { self_reported: true, version: '1.4.0' } },
        verdict: 'verified',
      },
      {
        ...open,
        name: 'another version',
        situation: 'another',
        claim,
        sees: { kind: 'present', differs: ['version'], facts: { version: '1.3.0' } },
        verdict: 'mismatch',
      },
      {
        ...open,
        name: 'no such endpoint',
        situation: 'missing',
        claim,
        sees: { kind: 'absent' },
        verdict: 'failed',
      },
      {
        name: 'the claimed version, through a connection',
        absentRoutes: open.absentRoutes,
        situation: 'live',
        claim,
        sees: { kind: 'present' },
        verdict: 'verified',
      },
    ],
  })
  t.ok(report.ok)
})
