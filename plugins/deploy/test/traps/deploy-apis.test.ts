/** The stand-ins themselves: they answer as published, and what they go through is what the places go through. */
import t from 'tap'
import { startServer } from '../../../../test/traps/scripted-server.ts'
import { START } from '../../../../test/traps/verifier-table.ts'
import { byTag, containerd, NEW, OLD, templateOf } from './cluster.ts'
import { KUBERNETES_FALSE } from './kubernetes-false.ts'
import { KUBERNETES_HONEST } from './kubernetes-honest.ts'
import { COMMIT, DEFAULT_DOMAIN, DOMAIN, NEW as NEW_ONE, OLD as OLD_ONE } from './project.ts'
import {
  cluster,
  DAY,
  HOUR,
  MINUTE,
  type Provider,
  project,
  ROLLED_MS,
  type Row,
  released,
  rolledOut,
  type Scene,
  setOf,
} from './row.ts'
import { TEAM } from './vercel-api.ts'
import { VERCEL_FALSE } from './vercel-false.ts'
import { VERCEL_HONEST } from './vercel-honest.ts'
import { VERSION_ROWS } from './version-rows.ts'

const ROWS: readonly Row[] = [
  ...KUBERNETES_HONEST,
  ...KUBERNETES_FALSE,
  ...VERCEL_HONEST,
  ...VERCEL_FALSE,
  ...VERSION_ROWS,
]

type Expected = readonly [status: number, at: string, value: unknown]
type Asked = readonly [title: string, path: string, scene: Omit<Scene, 'params'>, expected: Expected, afterMs?: number]

const NAMESPACE = '/apis/apps/v1/namespaces/shop'
const WEB = `${NAMESPACE}/deployments/web`
const PODS = '/api/v1/namespaces/shop/pods'
const of = (kubernetes: NonNullable<Scene['kubernetes']>) => ({ kubernetes })
const stuck = () => of({ cluster: rolledOut({ ready: 0, waits: 'ImagePullBackOff' }) })
const progress = (field: string): string => `status.conditions.1.${field}`
const second = (moment: number) => new Date(Math.floor(moment / 1000) * 1000).toISOString().replace('.000', '')

const KUBERNETES: readonly Asked[] = [
  ['a deployment', WEB, of({ cluster: rolledOut() }), [200, 'status.updatedReplicas', 2]],
  ['its generation', WEB, of({ cluster: rolledOut() }), [200, 'metadata.generation', 2]],
  [
    'one that no controller has seen',
    WEB,
    of({ cluster: cluster().make(-DAY).setTemplate(-1, templateOf(NEW)) }),
    [200, 'status.observedGeneration', 1],
  ],
  ['one that is rolled out', WEB, of({ cluster: rolledOut() }), [200, progress('reason'), 'NewReplicaSetAvailable']],
  [
    'the time of its roll-out',
    WEB,
    of({ cluster: rolledOut() }),
    [200, progress('lastUpdateTime'), second(START - ROLLED_MS + 4300)],
  ],
  [
    'the time of its first roll-out',
    WEB,
    of({ cluster: rolledOut() }),
    [200, progress('lastTransitionTime'), second(START - 30 * DAY)],
  ],
  ['one that is stuck', WEB, stuck(), [200, 'status.unavailableReplicas', 1]],
  ['one that is stuck for long', WEB, stuck(), [200, progress('reason'), 'ProgressDeadlineExceeded'], 11 * MINUTE],
  ['a paused one', WEB, of({ cluster: rolledOut().pause(-1) }), [200, 'spec.paused', true]],
  [
    'a template that a pause holds back',
    WEB,
    of({
      cluster: cluster()
        .make(-DAY)
        .pause(-HOUR)
        .rollOut(-MINUTE, { template: templateOf(NEW) }),
    }),
    [200, 'status.updatedReplicas', undefined],
  ],
  ['pods', `${PODS}?labelSelector=app%3Dweb`, of({ cluster: rolledOut() }), [200, 'items.length', 2]],
  [
    'the digest of a pod',
    `${PODS}?labelSelector=app%3Dweb`,
    of({ cluster: rolledOut() }),
    [200, 'items.0.status.containerStatuses.0.imageID', containerd(NEW)],
  ],
  ['pods that wait', PODS, stuck(), [200, 'items.2.status.containerStatuses.0.imageID', '']],
  ['pods of another label', `${PODS}?labelSelector=app%3Dapi`, of({ cluster: rolledOut() }), [200, 'items.length', 0]],
  [
    'pods of several labels',
    `${PODS}?labelSelector=app%20in%20(web%2Capi)%2Capp%21%3Dapi`,
    of({ cluster: rolledOut() }),
    [200, 'items.length', 2],
  ],
  ['a page of pods', `${PODS}?limit=1`, of({ cluster: rolledOut() }), [200, 'metadata.remainingItemCount', 1]],
  [
    'the next page of pods',
    `${PODS}?limit=1&continue=MQ%3D%3D`,
    of({ cluster: rolledOut() }),
    [200, 'metadata.continue', undefined],
  ],
  ['replica sets', `${NAMESPACE}/replicasets`, of({ cluster: rolledOut() }), [200, 'items.length', 2]],
  [
    'the owner of a replica set',
    `${NAMESPACE}/replicasets`,
    of({ cluster: rolledOut() }),
    [200, 'items.0.metadata.ownerReferences.0.kind', 'Deployment'],
  ],
  [
    'an old state of the watch cache',
    `${WEB}?resourceVersion=0`,
    of({ cluster: rolledOut(), cacheLagMs: HOUR }),
    [200, 'metadata.generation', 1],
  ],
  ['no deployment', `${NAMESPACE}/deployments/api`, of({ cluster: rolledOut() }), [404, 'reason', 'NotFound']],
  [
    'no deployment without the right',
    `${NAMESPACE}/deployments/api`,
    of({ cluster: rolledOut(), rights: [] }),
    [403, 'reason', 'Forbidden'],
  ],
  [
    'another namespace',
    '/apis/apps/v1/namespaces/other/deployments/web',
    of({ cluster: rolledOut() }),
    [403, 'reason', 'Forbidden'],
  ],
  [
    'no such resource',
    '/apis/apps/v2/namespaces/shop/deployments/web',
    of({ cluster: rolledOut() }),
    [404, 'details.name', undefined],
  ],
  [
    'a stateful set with a partition',
    `${NAMESPACE}/statefulsets/web`,
    of({
      cluster: cluster()
        .make(-DAY, { kind: 'statefulset', partition: 1 })
        .rollOut(-HOUR, { template: templateOf(NEW) }),
    }),
    [200, 'status.updatedReplicas', 1],
  ],
  [
    'a daemon set',
    `${NAMESPACE}/daemonsets/web`,
    of({ cluster: cluster().make(-DAY, { kind: 'daemonset' }) }),
    [200, 'status.desiredNumberScheduled', 2],
  ],
  [
    'an image that was pulled again',
    PODS,
    of({
      cluster: cluster()
        .make(-DAY, { template: templateOf(OLD, { image: byTag('latest') }) })
        .replacePods(-1, templateOf(NEW, { image: byTag('latest') })),
    }),
    [200, 'items.0.status.containerStatuses.0.imageID', containerd(NEW)],
  ],
]

const team = `teamId=${TEAM}`
const ALIAS = `/v4/aliases/${DOMAIN}?${team}`
const VERCEL: readonly Asked[] = [
  ['an alias', ALIAS, { vercel: { project: released() } }, [200, 'deploymentId', NEW_ONE]],
  ['the time of its last change', ALIAS, { vercel: { project: released() } }, [200, 'updatedAt', START - 1000]],
  ['the time of its making', ALIAS, { vercel: { project: released() } }, [200, 'createdAt', START - 30 * DAY + 2000]],
  [
    'an alias without the team',
    `/v4/aliases/${DOMAIN}`,
    { vercel: { project: released() } },
    [404, 'error.code', 'not_found'],
  ],
  [
    'an alias by the slug of the team',
    `/v4/aliases/${DOMAIN}?slug=acme`,
    { vercel: { project: released() } },
    [200, 'alias', DOMAIN],
  ],
  [
    'no alias',
    `/v4/aliases/none.example?${team}`,
    { vercel: { project: released() } },
    [404, 'error.code', 'not_found'],
  ],
  [
    'a deployment',
    `/v13/deployments/${NEW_ONE}?${team}`,
    { vercel: { project: released() } },
    [200, 'readySubstate', 'PROMOTED'],
  ],
  [
    'a deployment by its domain',
    `/v13/deployments/${DEFAULT_DOMAIN}?${team}`,
    { vercel: { project: released() } },
    [200, 'id', NEW_ONE],
  ],
  [
    'its commit',
    `/v13/deployments/${NEW_ONE}?${team}`,
    { vercel: { project: released() } },
    [200, 'gitSource.sha', COMMIT],
  ],
  [
    'a staged one',
    `/v13/deployments/${NEW_ONE}?${team}`,
    { vercel: { project: project().build(-HOUR, NEW_ONE) } },
    [200, 'readySubstate', 'STAGED'],
  ],
  [
    'one that is built',
    `/v13/deployments/${NEW_ONE}?${team}`,
    { vercel: { project: project().build(0, NEW_ONE) } },
    [200, 'readyState', 'BUILDING'],
  ],
  ['none', `/v13/deployments/dpl_none?${team}`, { vercel: { project: released() } }, [404, 'error.code', 'not_found']],
  [
    'a project',
    `/v9/projects/shop?${team}`,
    { vercel: { project: released() } },
    [200, 'targets.production.id', NEW_ONE],
  ],
  [
    'a rollback',
    `/v9/projects/shop?${team}`,
    { vercel: { project: released().rollBack(0, NEW_ONE, OLD_ONE) } },
    [200, 'lastRollbackTarget.toDeploymentId', OLD_ONE],
  ],
  ['domains', `/v9/projects/shop/domains?${team}`, { vercel: { project: released() } }, [200, 'domains.length', 2]],
  [
    'a rolling release',
    `/v1/projects/shop/rolling-release?${team}`,
    { vercel: { project: project().build(-HOUR, NEW_ONE).roll(0, OLD_ONE, NEW_ONE, 25) } },
    [200, 'rollingRelease.activeStage.targetPercentage', 25],
  ],
  [
    'no rolling release',
    `/v1/projects/shop/rolling-release?${team}`,
    { vercel: { project: released() } },
    [200, 'rollingRelease', null],
  ],
  [
    'deployments',
    `/v6/deployments?${team}&projectId=shop&target=production`,
    { vercel: { project: released() } },
    [200, 'deployments.0.uid', NEW_ONE],
  ],
  ['a team', '/v2/teams/acme', { vercel: { project: released() } }, [200, 'id', TEAM]],
  [
    'another team',
    `/v4/aliases/${DOMAIN}?teamId=team_other`,
    { vercel: { project: released() } },
    [403, 'error.code', 'forbidden'],
  ],
]

const ANSWERS = { kubernetes: KUBERNETES, vercel: VERCEL } as const

for (const provider of ['kubernetes', 'vercel'] satisfies readonly Provider[]) {
  t.test(provider, async (t) => {
    for (const [title, path, scene, [status, at, value], afterMs = 0] of ANSWERS[provider]) {
      const { answer, secrets } = setOf(provider, { ...scene, params: {} })
      const server = await startServer({ answer, now: () => START + afterMs })
      const response = await fetch(`${server.url}${path}`, { headers: { authorization: `Bearer ${secrets[0]}` } })
      t.equal(response.status, status, title)
      t.equal(valueAt(await response.json(), at), value, `${title}: ${at}`)
      t.strictSame(server.faults, [], `${title}: as published`)
      await server.close()
    }
    const { answer } = setOf(provider, { ...ANSWERS[provider][0]![2], params: {} })
    const server = await startServer({ answer, now: () => START })
    const refused = await fetch(`${server.url}${ANSWERS[provider][0]![1]}`, {
      headers: { authorization: 'Bearer wrong' },
    })
    t.equal(refused.status, provider === 'kubernetes' ? 401 : 403, 'a wrong token')
    await server.close()
  })
}

t.test('the rows', async (t) => {
  const names = ROWS.map(({ provider, title }) => `${provider}: ${title}`)
  t.strictSame(
    names.filter((name, index) => names.indexOf(name) !== index),
    [],
    'each has a name of its own',
  )
  const honest = ROWS.filter(({ right }) => right === 'verified' || right === 'late').length
  t.ok(honest * 3 >= ROWS.length, `${honest} of ${ROWS.length} are honest claims that are told`)
  for (const { provider, scene: make } of ROWS) {
    const scene = make()
    t.ok(setOf(provider, scene).target, provider)
    for (const afterMs of [0, MINUTE, DAY]) {
      scene.kubernetes?.cluster.at(START + afterMs)
      scene.vercel?.project.at(START + afterMs)
    }
  }
  const counts = new Map<string, number>()
  for (const { provider, truth, right } of ROWS)
    for (const name of [`${provider} ${truth}`, `${provider} right is ${right}`])
      counts.set(name, (counts.get(name) ?? 0) + 1)
  t.comment(
    [...counts]
      .toSorted()
      .map(([name, count]) => `${name}: ${count}`)
      .join('; '),
  )
})

function valueAt(body: unknown, at: string): unknown {
  return at
    .split('.')
    .reduce<unknown>((value, name) => (value as Readonly<Record<string, unknown>> | null)?.[name], body)
}
