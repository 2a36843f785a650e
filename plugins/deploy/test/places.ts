/** A Kubernetes API server, Vercel's API and an endpoint of a version on loopback, of the few paths that the plugin reads. */
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

export const TOKEN = 'reads-deployments-only'
export const NAMESPACE = 'shop'
export const NAME = 'web'
export const CLUSTER_URL = 'https://k8s.example.com:6443'
export const TEAM_ID = 'team_nLlpyC6REAqxydlFKbrMDlud'
export const TEAM = 'acme'
export const PROJECT = 'web'
export const DOMAIN = 'www.example.com'
export const DIGEST = `sha256:${'a1'.repeat(32)}`
export const OTHER_DIGEST = `sha256:${'b2'.repeat(32)}`
export const REPOSITORY = 'registry.example.com/shop/web'

export interface Pod {
  /** The ReplicaSet, or the workload itself, that made it. */
  readonly owner: string
  readonly imageID: string
  readonly image?: string
  readonly isReady?: boolean
  readonly isLeaving?: boolean
  readonly readyAt?: number
}

interface ReplicaSet {
  readonly uid: string
  readonly revision: number
  readonly image: string
  readonly createdAt: number
}

export interface Workload {
  readonly uid: string
  readonly image: string
  readonly createdAt: number
  readonly sidecar?: string
  readonly replicas?: number
  readonly status?: object
  readonly observed?: number
  readonly revision?: number
  readonly completedAt?: number
}

interface Deployment {
  readonly id: string
  readonly createdAt: number
  readonly sha?: string
  readonly readyState?: string
}

class Refusal extends Error {
  readonly status: number
  readonly body: object

  constructor(status: number, body: object) {
    super(String(status))
    this.status = status
    this.body = body
  }
}

const iso = (moment: number) => new Date(moment).toISOString().replace(/\.\d+Z$/, 'Z')
const notFound = (kind: string) =>
  new Refusal(404, { kind: 'Status', status: 'Failure', reason: 'NotFound', code: 404, details: { name: NAME, kind } })

export class Places {
  kind = 'deployment'
  workload: Workload | undefined
  sets: readonly ReplicaSet[] = []
  pods: readonly Pod[] = []
  /** Tells whether the role lets the token read the namespace. */
  mayRead = true
  deployments: readonly Deployment[] = []
  /** The deployment to which the domain leads, and since when. */
  alias: { readonly deploymentId: string; readonly updatedAt?: number } | undefined
  rollingRelease: object | undefined
  /** The versions that the endpoint answers in turn; a number is a status. */
  versions: readonly (string | number)[] = ['1.3.0']
  versionHeaders: Readonly<Record<string, string>> = {}
  #asked = 0
  readonly #now: () => number

  constructor(now: () => number) {
    this.#now = now
  }

  async start() {
    const server = createServer((request, response) => {
      response.setHeader('date', new Date(this.#now()).toUTCString())
      response.setHeader('content-type', 'application/json')
      try {
        const answer = this.#answer(request)
        if (request.url === '/version')
          for (const name in this.versionHeaders) response.setHeader(name, this.versionHeaders[name]!)
        response.end(JSON.stringify(answer))
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        response.writeHead(error.status).end(JSON.stringify(error.body))
      }
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const stop = () => {
      server.closeAllConnections()
      server.close()
    }
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop }
  }

  #answer({ url, headers: { authorization } }: IncomingMessage): object {
    const { pathname } = new URL(url!, 'http://place')
    if (pathname === '/version') return this.#version()
    if (pathname === '/') throw new Refusal(404, {})
    if (authorization !== `Bearer ${TOKEN}`)
      throw new Refusal(401, { kind: 'Status', reason: 'Unauthorized', code: 401 })
    return pathname.startsWith('/api') ? this.#kubernetes(pathname) : this.#vercel(pathname)
  }

  #version(): object {
    const version = this.versions[this.#asked++ % this.versions.length]!
    if (typeof version === 'number') throw new Refusal(version, {})
    return { version }
  }

  #kubernetes(path: string): object {
    if (!this.mayRead) throw new Refusal(403, { kind: 'Status', reason: 'Forbidden', code: 403 })
    const within = `/namespaces/${NAMESPACE}/`
    const items = (kind: string, list: readonly object[]) => ({ kind, metadata: { resourceVersion: '7' }, items: list })
    if (path === `/api/v1${within}pods`)
      return items(
        'PodList',
        this.pods.map((pod, index) => this.#pod(pod, index)),
      )
    if (path === `/apis/apps/v1${within}replicasets`)
      return items(
        'ReplicaSetList',
        this.sets.map((set) => this.#set(set)),
      )
    if (path !== `/apis/apps/v1${within}${this.kind}s/${NAME}` || !this.workload) throw notFound(`${this.kind}s`)
    return this.#workload(this.workload)
  }

  #workload({
    uid,
    image,
    createdAt,
    sidecar,
    replicas = 2,
    status,
    observed = 3,
    revision = 1,
    completedAt,
  }: Workload) {
    const containers = [{ name: 'web', image }, ...(sidecar === undefined ? [] : [{ name: 'proxy', image: sidecar }])]
    const progress = {
      type: 'Progressing',
      status: 'True',
      reason: completedAt === undefined ? 'ReplicaSetUpdated' : 'NewReplicaSetAvailable',
      message: `ReplicaSet "${NAME}-${revision}" has successfully progressed.`,
      lastUpdateTime: iso(completedAt ?? createdAt),
    }
    return {
      metadata: {
        ...{ name: NAME, uid, generation: 3, creationTimestamp: iso(createdAt) },
        annotations: { 'deployment.kubernetes.io/revision': String(revision) },
      },
      spec: { replicas, selector: { matchLabels: { app: NAME } }, template: { spec: { containers } } },
      status: {
        observedGeneration: observed,
        ...{ replicas, updatedReplicas: replicas, readyReplicas: replicas, availableReplicas: replicas },
        ...{ desiredNumberScheduled: replicas, updatedNumberScheduled: replicas, numberReady: replicas },
        ...{ numberAvailable: replicas, updateRevision: `${NAME}-${revision}` },
        conditions: [progress],
        ...status,
      },
    }
  }

  #set({ uid, revision, image, createdAt }: ReplicaSet) {
    return {
      metadata: {
        ...{ name: `${NAME}-${revision}`, uid, generation: 1, creationTimestamp: iso(createdAt) },
        annotations: { 'deployment.kubernetes.io/revision': String(revision) },
        ownerReferences: [{ uid: this.workload?.uid, controller: true }],
      },
      spec: { template: { spec: { containers: [{ name: 'web', image }] } } },
    }
  }

  #pod(pod: Pod, index: number) {
    const { owner, imageID, image, isReady = true, isLeaving = false, readyAt = this.workload?.createdAt ?? 0 } = pod
    const set = this.sets.find(({ uid }) => uid === owner)
    const state = isReady ? { running: { startedAt: iso(readyAt) } } : { waiting: { reason: 'CrashLoopBackOff' } }
    return {
      metadata: {
        ...{ name: `${NAME}-${index}`, uid: `pod-${index}`, creationTimestamp: iso(readyAt) },
        ...(isLeaving && { deletionTimestamp: iso(this.#now() + 30_000) }),
        labels: { app: NAME, 'controller-revision-hash': `${NAME}-${set?.revision ?? this.workload?.revision ?? 1}` },
        ownerReferences: [{ uid: owner, controller: true }],
      },
      spec: { containers: [{ name: 'web', image: image ?? set?.image ?? this.workload?.image }] },
      status: {
        phase: 'Running',
        conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime: iso(readyAt) }],
        containerStatuses: [{ name: 'web', ready: isReady, imageID, state }],
      },
    }
  }

  #vercel(path: string): object {
    if (path === `/v2/teams/${TEAM_ID}`) return { id: TEAM_ID, slug: TEAM }
    if (path === `/v9/projects/${PROJECT}`)
      return { id: 'prj_1', name: PROJECT, accountId: TEAM_ID, ...(this.rollingRelease && { rollingRelease: {} }) }
    if (path === '/v9/projects/prj_1/domains') return { domains: [{ name: DOMAIN, verified: true, redirect: null }] }
    if (path === '/v1/projects/prj_1/rolling-release') return { rollingRelease: this.rollingRelease ?? null }
    if (path === `/v4/aliases/${DOMAIN}` && this.alias)
      return { alias: DOMAIN, projectId: 'prj_1', createdAt: 1_600_000_000_000, ...this.alias }
    const deployment = this.deployments.find(({ id }) => path === `/v13/deployments/${id}`)
    if (!deployment) throw new Refusal(404, { error: { code: 'not_found' } })
    const { sha, readyState = 'READY', ...rest } = deployment
    return {
      ...rest,
      projectId: 'prj_1',
      readyState,
      readySubstate: 'PROMOTED',
      gitSource: sha === undefined ? null : { sha },
    }
  }
}
