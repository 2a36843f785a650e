/** The API of Kubernetes over a scripted cluster: workloads, replica sets, pods by label and page, rights before existence, and a watch cache that lags. */

import type { Answer, Asked } from '../../../../test/traps/scripted-server.ts'
import type { Cluster, ClusterState, Container, Pod, ReplicaSet, Workload, WorkloadKind } from './cluster.ts'
import { faultsOf } from './published.ts'

export const CLUSTER = 'prod'
export const NAMESPACE = 'shop'
export const TOKEN = 'eyJhbGciOiJSUzI1NiJ9.reader-4711.c2lnbmF0dXJl'

export interface Kubernetes {
  readonly cluster: Cluster
  /** Rights as `get deployments`; all reads when left out. */
  readonly rights?: readonly string[]
  /** The watch cache, from which `resourceVersion=0` is answered, is behind by so much. */
  readonly cacheLagMs?: number
  /** Items on a page at most, however many are asked for. */
  readonly pageSize?: number
}

const RESOURCES: Readonly<Record<WorkloadKind, string>> = {
  deployment: 'deployments',
  statefulset: 'statefulsets',
  daemonset: 'daemonsets',
}
const KINDS: Readonly<Record<WorkloadKind, string>> = {
  deployment: 'Deployment',
  statefulset: 'StatefulSet',
  daemonset: 'DaemonSet',
}

class StatusError extends Error {
  readonly code: number
  readonly reason: string
  readonly details: object

  constructor(code: number, reason: string, message: string, details: object = {}) {
    super(message)
    this.code = code
    this.reason = reason
    this.details = details
  }
}

export function createKubernetes(kubernetes: Kubernetes): (asked: Asked, faults: string[]) => Answer {
  return (asked, faults) => {
    try {
      return { status: 200, body: answerOf(kubernetes, asked, faults) }
    } catch (error) {
      if (!(error instanceof StatusError)) throw error
      return statusAnswer(error.code, error.reason, error.message, error.details)
    }
  }
}

export function statusAnswer(code: number, reason: string, message: string, details: object = {}): Answer {
  const body = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, details, code }
  return { status: code, body }
}

const PARAMETERS: ReadonlySet<string> = new Set(
  'allowWatchBookmarks continue fieldSelector labelSelector limit resourceVersion resourceVersionMatch sendInitialEvents timeoutSeconds pretty'.split(
    ' ',
  ),
)

function answerOf(kubernetes: Kubernetes, asked: Asked, faults: string[]): unknown {
  const { method, url, headers, path, shown } = asked
  if (method !== 'GET') faults.push(`${method} ${path}: reads are GET`)
  for (const name of url.searchParams.keys())
    if (!PARAMETERS.has(name)) faults.push(`${name} is no parameter of a read`)
  if (headers.authorization !== `Bearer ${TOKEN}`) throw new StatusError(401, 'Unauthorized', 'Unauthorized')
  if (path === '/version') return { major: '1', minor: '34', gitVersion: 'v1.34.2', platform: 'linux/amd64' }
  const [, group, namespace = '', resource = '', name, more] =
    /^\/(api\/v1|apis\/apps\/v1)\/namespaces\/([^/]+)(?:\/([^/]+))?(?:\/([^/]+))?(?:\/(.+))?$/.exec(path) ?? []
  const isPods = group === 'api/v1' && resource === 'pods'
  const isApps =
    group === 'apis/apps/v1' && [...Object.values(RESOURCES), 'replicasets', 'controllerrevisions'].includes(resource)
  if ((!isPods && !isApps) || more !== undefined) {
    if (group === 'api/v1' && resource === '') throw forbidden('get', 'namespaces', namespace, '', namespace)
    throw new StatusError(404, 'NotFound', 'the server could not find the requested resource')
  }
  // Rights come first: what may not be read is forbidden, whether it is there or not.
  const verb = name === undefined ? 'list' : 'get'
  const { rights, cacheLagMs = 0 } = kubernetes
  if (namespace !== NAMESPACE || (rights && !rights.includes(`${verb} ${resource}`)))
    throw forbidden(verb, resource, namespace, isPods ? '' : 'apps', name)
  const isCached = url.searchParams.get('resourceVersion') === '0'
  const state = kubernetes.cluster.at(isCached ? shown - cacheLagMs : shown)
  const all = itemsOf(state, resource, shown, faults)
  if (name === undefined) return pageOf(kubernetes, asked, resource, all)
  const found = all.find(({ metadata }) => metadata.name === name)
  if (!found)
    throw new StatusError(404, 'NotFound', `${resource}${isPods ? '' : '.apps'} "${name}" not found`, {
      ...{ name, ...(isPods ? {} : { group: 'apps' }), kind: resource },
    })
  return found
}

function forbidden(verb: string, resource: string, namespace: string, group: string, name?: string): StatusError {
  const kind = `${resource}${group && `.${group}`}`
  return new StatusError(
    403,
    'Forbidden',
    `${kind} ${name === undefined ? '' : `"${name}" `}is forbidden: User "system:serviceaccount:claimcheck:reader" cannot ${verb} resource "${resource}" in API group "${group}" in the namespace "${namespace}"`,
    { ...(name !== undefined && { name }), ...(group && { group }), kind: resource },
  )
}

interface Resource {
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> }
}

function itemsOf(state: ClusterState, resource: string, now: number, faults: string[]): readonly Resource[] {
  const workloads = [...state.workloads.values()]
  if (resource === 'pods')
    return [
      ...workloads.flatMap((workload) => workload.pods.map((pod) => podObject(pod, workload, faults))),
      ...state.strays.map((pod) => podObject(pod, undefined, faults)),
    ]
  if (resource === 'replicasets')
    return workloads.flatMap((workload) => workload.replicaSets.map((set) => replicaSetObject(set, workload, faults)))
  if (resource === 'controllerrevisions')
    return workloads
      .filter(({ kind }) => kind !== 'deployment')
      .flatMap((workload) =>
        [1, 2].filter((number) => number <= workload.revision).map((number) => revisionObject(number, workload)),
      )
  return workloads
    .filter(({ kind }) => RESOURCES[kind] === resource)
    .map((workload) => workloadObject(workload, now, faults))
}

const LIST_KINDS: Readonly<Record<string, string>> = {
  pods: 'PodList',
  replicasets: 'ReplicaSetList',
  controllerrevisions: 'ControllerRevisionList',
  deployments: 'DeploymentList',
  statefulsets: 'StatefulSetList',
  daemonsets: 'DaemonSetList',
}

function pageOf({ pageSize = 500 }: Kubernetes, { url }: Asked, resource: string, all: readonly Resource[]) {
  const query = url.searchParams
  const selected = all.filter(({ metadata }) => matches(metadata.labels, query.get('labelSelector') ?? ''))
  // A list without a limit is whole; pages are for who asks for them.
  const size = query.has('limit') ? Math.min(Number(query.get('limit')) || pageSize, pageSize) : selected.length
  const from = Number(Buffer.from(query.get('continue') ?? '', 'base64').toString() || '0')
  const rest = Math.max(0, selected.length - from - size)
  const next =
    rest > 0 ? { continue: Buffer.from(String(from + size)).toString('base64'), remainingItemCount: rest } : {}
  return {
    kind: LIST_KINDS[resource],
    apiVersion: resource === 'pods' ? 'v1' : 'apps/v1',
    metadata: { resourceVersion: '4711', ...next },
    items: selected.slice(from, from + size),
  }
}

/** Matches a selector of equalities and sets, as Kubernetes reads it. */
function matches(labels: Readonly<Record<string, string>>, selector: string): boolean {
  const parts = selector.match(/[^,(]+(?:\([^)]*\))?/g) ?? []
  return parts.every((part) => {
    const [, key = '', values] = /^\s*(\S+) in \(([^)]*)\)$/.exec(part) ?? []
    if (values !== undefined) return values.split(',').some((value) => value.trim() === labels[key])
    const [, name = '', sign, value = ''] = /^\s*([^=!\s]+)\s*(==?|!=)\s*(\S*)\s*$/.exec(part) ?? []
    return sign === undefined ? part.trim() in labels : (labels[name] === value) === (sign !== '!=')
  })
}

/** Times have whole seconds. */
function timeOf(moment: number): string {
  return new Date(Math.floor(moment / 1000) * 1000).toISOString().replace('.000', '')
}

function hashOf(revision: number): string {
  return `6f9c${String(revision).padStart(6, 'd')}`
}

const LABELS = { app: 'web' }

function labelsOf({ kind }: Workload, revision: number): Readonly<Record<string, string>> {
  const hash =
    kind === 'deployment'
      ? { 'pod-template-hash': hashOf(revision) }
      : { 'controller-revision-hash': `web-${hashOf(revision)}` }
  return { ...LABELS, ...hash }
}

function metadataOf(name: string, uid: string, createdAt: number, more: object = {}) {
  return {
    name,
    namespace: NAMESPACE,
    uid,
    resourceVersion: '4711',
    creationTimestamp: timeOf(createdAt),
    labels: LABELS,
    ...more,
  }
}

function ownedBy(kind: string, name: string, uid: string) {
  return { ownerReferences: [{ apiVersion: 'apps/v1', kind, name, uid, controller: true, blockOwnerDeletion: true }] }
}

function containersIn(containers: readonly Container[]) {
  return containers.map(({ name, image }) => ({
    ...{ name, image, resources: {}, imagePullPolicy: 'IfNotPresent' },
    ...{ terminationMessagePath: '/dev/termination-log', terminationMessagePolicy: 'File' },
  }))
}

function podSpecOf({ containers, initContainers }: Workload['template']) {
  return {
    ...(initContainers && { initContainers: containersIn(initContainers) }),
    containers: containersIn(containers),
    ...{
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'ClusterFirst',
      schedulerName: 'default-scheduler',
    },
  }
}

function workloadObject(workload: Workload, _now: number, faults: string[]): Resource {
  const { kind, name, uid, createdAt, generation, replicas, isPaused, template, revision, partition, strategy } =
    workload
  const shared = {
    selector: { matchLabels: LABELS },
    template: { metadata: { labels: LABELS }, spec: podSpecOf(template) },
  }
  const rolling = {
    type: strategy,
    ...(strategy === 'RollingUpdate' && {
      rollingUpdate: kind === 'statefulset' ? { partition } : { maxUnavailable: 1 },
    }),
  }
  const spec = {
    deployment: {
      replicas,
      ...shared,
      strategy: rolling,
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
      ...(isPaused && { paused: true }),
    },
    statefulset: {
      replicas,
      ...shared,
      serviceName: name,
      podManagementPolicy: 'OrderedReady',
      updateStrategy: rolling,
      revisionHistoryLimit: 10,
    },
    daemonset: { ...shared, updateStrategy: rolling, revisionHistoryLimit: 10 },
  }[kind]
  const annotations =
    kind === 'deployment' ? { annotations: { 'deployment.kubernetes.io/revision': String(revision) } } : {}
  const body = {
    ...{ kind: KINDS[kind], apiVersion: 'apps/v1' },
    metadata: metadataOf(name, uid, createdAt, { generation, ...annotations }),
    ...{ spec, status: statusOf(workload) },
  }
  faults.push(...faultsOf(`${kind} spec`, spec), ...faultsOf(`${kind} status`, body.status))
  return body
}

/** Counts pods as controllers do: those that are being deleted are not counted, and counts that are 0 are left out. */
function statusOf(workload: Workload): Record<string, unknown> {
  const { kind, observed, replicas, pods, revision, conditions } = workload
  const counted = pods.filter(({ deletedAt, phase }) => deletedAt === undefined && phase !== 'Failed')
  const ready = counted.filter(({ isReady }) => isReady).length
  // A template that is observed and has no replica set, as in a paused deployment, has no updated pods.
  const isMade = kind !== 'deployment' || observed < workload.generation || hasReplicaSet(workload)
  const updated = isMade ? counted.filter((pod) => pod.revision === revision) : []
  const hash = (number: number) => `web-${hashOf(number)}`
  const oldest = Math.min(revision, ...counted.map((pod) => pod.revision))
  const some = (counts: Readonly<Record<string, number>>) =>
    Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0))
  if (kind === 'daemonset')
    return {
      ...{
        currentNumberScheduled: counted.length,
        numberMisscheduled: 0,
        desiredNumberScheduled: replicas,
        numberReady: ready,
      },
      observedGeneration: observed,
      ...some({ updatedNumberScheduled: updated.length, numberAvailable: ready, numberUnavailable: replicas - ready }),
    }
  if (kind === 'statefulset')
    return {
      observedGeneration: observed,
      replicas: counted.length,
      ...some({
        readyReplicas: ready,
        availableReplicas: ready,
        currentReplicas: counted.length - (oldest === revision ? 0 : updated.length),
        updatedReplicas: updated.length,
      }),
      ...{ currentRevision: hash(oldest), updateRevision: hash(revision), collisionCount: 0 },
    }
  return {
    observedGeneration: observed,
    ...some({
      replicas: counted.length,
      updatedReplicas: updated.length,
      readyReplicas: ready,
      availableReplicas: ready,
      unavailableReplicas: counted.length - ready,
    }),
    conditions: conditions.map(({ type, status, reason, updatedAt, changedAt }) => ({
      ...{
        type,
        status,
        lastUpdateTime: timeOf(updatedAt),
        lastTransitionTime: timeOf(changedAt),
        reason,
        message: `${reason}.`,
      },
    })),
  }
}

function hasReplicaSet({ replicaSets, template }: Workload): boolean {
  return replicaSets.some((set) => set.template === template)
}

function replicaSetObject(set: ReplicaSet, workload: Workload, faults: string[]): Resource {
  const pods = workload.pods.filter(
    ({ owner, deletedAt, phase }) => owner === set.uid && deletedAt === undefined && phase !== 'Failed',
  )
  const ready = pods.filter(({ isReady }) => isReady).length
  const labels = labelsOf(workload, set.revision)
  const spec = {
    replicas: set.revision === workload.revision ? workload.replicas : pods.length,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: podSpecOf(set.template) },
  }
  const status = {
    replicas: pods.length,
    observedGeneration: 1,
    ...(ready > 0 && { readyReplicas: ready, availableReplicas: ready }),
  }
  faults.push(...faultsOf('replicaset spec', spec), ...faultsOf('replicaset status', status))
  const annotations = { 'deployment.kubernetes.io/revision': String(set.revision) }
  const owner = ownedBy('Deployment', workload.name, workload.uid)
  const name = `${workload.name}-${hashOf(set.revision)}`
  return {
    metadata: metadataOf(name, set.uid, set.createdAt, { labels, annotations, generation: 1, ...owner }),
    ...{ spec, status },
  }
}

function revisionObject(revision: number, workload: Workload): Resource {
  const { kind, name, uid, createdAt } = workload
  const metadata = metadataOf(
    `${name}-${hashOf(revision)}`,
    `${uid.slice(0, -2)}r${revision}`,
    createdAt,
    ownedBy(KINDS[kind], name, uid),
  )
  return { metadata, ...{ revision, data: { spec: {} } } } as Resource
}

function podObject(pod: Pod, workload: Workload | undefined, faults: string[]): Resource {
  const {
    name,
    uid,
    owner,
    template,
    number,
    createdAt,
    isReady,
    readyAt,
    startedAt,
    restarts,
    deletedAt,
    waits,
    phase = 'Running',
  } = pod
  const set = workload?.replicaSets.find((one) => one.uid === owner)
  const owned = set
    ? ownedBy('ReplicaSet', `${workload!.name}-${hashOf(set.revision)}`, set.uid)
    : owner && ownedBy(workload ? KINDS[workload.kind] : 'ReplicaSet', workload?.name ?? 'web-canary-6f9c', owner)
  const isStarted = waits === undefined && phase === 'Running'
  const told = ({ name: container, image, imageID }: Container, isInit = false) => ({
    ...{
      name: container,
      image,
      imageID: isStarted || isInit ? imageID(number) : '',
      restartCount: isInit ? 0 : restarts,
    },
    ...{ ready: isInit || isReady, started: isStarted, lastState: {} },
    state: stateOf(isInit, isStarted, startedAt, waits),
    ...((isStarted || isInit) && { containerID: `containerd://${uid.replaceAll('-', '')}` }),
  })
  const condition = (type: string, isTrue: boolean, at: number) => ({
    ...{ type, status: isTrue ? 'True' : 'False', lastProbeTime: null, lastTransitionTime: timeOf(at) },
  })
  const containerStatuses = template.containers.map((one) => told(one))
  const spec = { ...podSpecOf(template), nodeName: `node-${number % 3}` }
  const status = {
    phase,
    conditions: [
      condition('PodScheduled', true, createdAt),
      condition('Initialized', true, createdAt),
      condition('ContainersReady', isReady, readyAt),
      condition('Ready', isReady, readyAt),
    ],
    ...{ hostIP: '10.0.0.7', podIP: '10.1.0.7', startTime: timeOf(createdAt), qosClass: 'BestEffort' },
    ...(template.initContainers && { initContainerStatuses: template.initContainers.map((one) => told(one, true)) }),
    containerStatuses,
  }
  faults.push(
    ...faultsOf('pod spec', spec),
    ...faultsOf('pod status', status),
    ...containerStatuses.flatMap((one) => faultsOf('container status', one)),
  )
  const labels = pod.labels ?? (workload ? labelsOf(workload, pod.revision) : LABELS)
  const deletion =
    deletedAt === undefined ? {} : { deletionTimestamp: timeOf(deletedAt + 30_000), deletionGracePeriodSeconds: 30 }
  return { metadata: metadataOf(name, uid, createdAt, { labels, ...(owned || {}), ...deletion }), ...{ spec, status } }
}

function stateOf(isInit: boolean, isStarted: boolean, startedAt: number, waits: string | undefined): object {
  if (isInit)
    return {
      terminated: { exitCode: 0, reason: 'Completed', startedAt: timeOf(startedAt), finishedAt: timeOf(startedAt) },
    }
  return isStarted
    ? { running: { startedAt: timeOf(startedAt) } }
    : { waiting: { reason: waits ?? 'ContainerCreating' } }
}
