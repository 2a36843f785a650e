/** A scripted cluster: a workload, its replica sets and its pods as they are at each moment, while images are rolled out, rolled back, paused and scaled. */
import { createHash } from 'node:crypto'

export type WorkloadKind = 'deployment' | 'statefulset' | 'daemonset'

const digest = (name: string) => `sha256:${createHash('sha256').update(name).digest('hex')}`
export const NEW = digest('the new image')
export const OLD = digest('the old image')
export const OTHER = digest('another image')
/** The manifest of the new image for one platform, and its configuration, which runtimes may tell in its place. */
export const NEW_ARM = digest('the new image for arm64')
export const NEW_CONFIG = digest('the configuration of the new image')
export const SIDECAR = digest('a proxy')
export const REPOSITORY = 'registry.example.com/acme/shop'

export interface Container {
  readonly name: string
  /** The image as the template names it. */
  readonly image: string
  /** The image as the node tells it, by the number of the pod. */
  readonly imageID: (pod: number) => string
}

export interface Template {
  readonly containers: readonly Container[]
  readonly initContainers?: readonly Container[]
}

export interface Pod {
  readonly name: string
  readonly uid: string
  /** The uid of the replica set, or of the workload where it has none. */
  readonly owner: string
  readonly revision: number
  readonly template: Template
  readonly number: number
  readonly createdAt: number
  /** The last change of its readiness. */
  readonly readyAt: number
  readonly isReady: boolean
  readonly startedAt: number
  readonly restarts: number
  /** The moment of its deletion; it goes on until its grace period is over. */
  readonly deletedAt?: number
  /** The reason for which its container waits. */
  readonly waits?: string
  readonly phase?: 'Pending' | 'Running' | 'Failed' | 'Succeeded'
  readonly labels?: Readonly<Record<string, string>>
}

export interface ReplicaSet {
  readonly uid: string
  readonly revision: number
  readonly template: Template
  readonly createdAt: number
}

export interface Condition {
  readonly type: 'Progressing' | 'Available'
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  readonly updatedAt: number
  readonly changedAt: number
}

export interface Workload {
  readonly kind: WorkloadKind
  readonly name: string
  readonly uid: string
  readonly createdAt: number
  readonly generation: number
  readonly observed: number
  readonly replicas: number
  readonly isPaused: boolean
  readonly template: Template
  readonly revision: number
  readonly replicaSets: readonly ReplicaSet[]
  readonly pods: readonly Pod[]
  readonly conditions: readonly Condition[]
  /** Pods of a stateful set below this number stay at their revision. */
  readonly partition: number
  readonly strategy: 'RollingUpdate' | 'OnDelete' | 'Recreate'
}

export interface ClusterState {
  readonly workloads: ReadonlyMap<string, Workload>
  /** Pods that no workload of the cluster has made, though they have its labels. */
  readonly strays: readonly Pod[]
}

type Draft = { workloads: Map<string, Workload>; strays: Pod[] }

/** Image references as templates have them. */
export const byDigest = (of: string) => `${REPOSITORY}@${of}`
export const byTag = (tag: string) => `${REPOSITORY}:${tag}`
export const byBoth = (tag: string, of: string) => `${REPOSITORY}:${tag}@${of}`
/** Image ids as containerd and Docker tell them. */
export const containerd = (of: string) => `${REPOSITORY}@${of}`
export const docker = (of: string) => `docker-pullable://${REPOSITORY}@${of}`

/** A template with one container of an image, named by its digest unless it says otherwise. */
export function templateOf(
  of: string,
  { image = byDigest(of), imageID = () => containerd(of), name = 'web' }: Partial<Container> = {},
): Template {
  return { containers: [{ name, image, imageID }] }
}

export interface Rollout {
  readonly template: Template
  /** Milliseconds until the next pod is ready. */
  readonly podMs?: number
  /** Pods that become ready; all when left out. */
  readonly ready?: number
  /** The reason for which the other new pods wait. */
  readonly waits?: string
}

export interface Made {
  readonly kind?: WorkloadKind
  readonly name?: string
  readonly template?: Template
  readonly replicas?: number
  readonly partition?: number
  readonly strategy?: Workload['strategy']
}

const CONTROLLER_MS = 300
const GRACE_MS = 2000
const PROGRESS_DEADLINE_MS = 600_000

export class Cluster {
  readonly #start: number
  readonly #steps: { readonly at: number; readonly apply: (draft: Draft, at: number) => void }[] = []
  #uids = 0

  constructor(start: number) {
    this.#start = start
  }

  at(now: number): ClusterState {
    const draft: Draft = { workloads: new Map(), strays: [] }
    for (const { at, apply } of this.#steps.toSorted((one, other) => one.at - other.at)) if (at <= now) apply(draft, at)
    return draft
  }

  /** Makes a workload whose pods are ready after a second. */
  make(
    afterMs: number,
    { kind = 'deployment', name = 'web', template = templateOf(OLD), replicas = 2, ...more }: Made = {},
  ): this {
    const uid = this.#uid()
    const set = this.#uid()
    const pods = Array.from({ length: replicas }, () => this.#uid())
    return this.#then(afterMs, (draft, at) => {
      const { partition = 0, strategy = 'RollingUpdate' } = more
      if (draft.workloads.has(name)) throw new Error(`there is ${name} already`)
      const owner = kind === 'deployment' ? set : uid
      draft.workloads.set(name, {
        ...{
          kind,
          name,
          uid,
          createdAt: at,
          generation: 1,
          observed: 1,
          replicas,
          isPaused: false,
          template,
          revision: 1,
        },
        replicaSets: kind === 'deployment' ? [{ uid: set, revision: 1, template, createdAt: at }] : [],
        pods: pods.map((podUid, number) => podOf({ uid: podUid, owner, revision: 1, template, number, at, name })),
        conditions: conditionsAt([], at + 1000, 'NewReplicaSetAvailable', at),
        ...{ partition, strategy },
      })
    })
  }

  /** Changes the template; the controller then replaces one pod after the other, and each old one goes when a new one is ready. */
  rollOut(afterMs: number, { template, podMs = 2000, ready, waits }: Rollout, name = 'web'): this {
    const set = this.#uid()
    const uids = Array.from({ length: 12 }, () => this.#uid())
    this.#change(afterMs, name, (workload) => ({ ...workload, template, generation: workload.generation + 1 }))
    this.#change(afterMs + CONTROLLER_MS, name, (workload, at) => {
      if (workload.isPaused) return { ...workload, observed: workload.generation }
      const revision = Math.max(workload.revision, ...workload.replicaSets.map((one) => one.revision)) + 1
      const known = workload.replicaSets.find((one) => one.template === template)
      const made = known ? { ...known, revision } : { uid: set, revision, template, createdAt: at }
      const sets = [
        ...workload.replicaSets.filter((one) => one !== known),
        ...(workload.kind === 'deployment' ? [made] : []),
      ]
      const conditions = conditionsAt(workload.conditions, at, known ? 'FoundNewReplicaSet' : 'ReplicaSetUpdated')
      return { ...workload, observed: workload.generation, revision, replicaSets: sets, conditions }
    })
    const count = ready ?? uids.length
    for (const [index, uid] of uids.entries()) {
      const madeMs = afterMs + CONTROLLER_MS + 1 + index * podMs
      const goesOn = (workload: Workload) =>
        !workload.isPaused && workload.template === template && index < rolled(workload)
      if (index <= count)
        this.#change(madeMs, name, (workload, at) => {
          if (!goesOn(workload)) return workload
          const number = workload.kind === 'deployment' ? index : workload.replicas - 1 - index
          const owner = ownerOf(workload)
          const made = podOf({
            uid,
            owner,
            revision: workload.revision,
            template,
            number,
            at,
            name,
            isReady: false,
            ...(index < count ? {} : { waits }),
          })
          const replaced =
            workload.kind === 'deployment' ? workload.pods : workload.pods.filter((pod) => pod.number !== number)
          return { ...workload, pods: [...replaced, made] }
        })
      if (index < count)
        this.#change(madeMs + podMs - 1, name, (workload, at) => {
          if (!goesOn(workload)) return workload
          const pods = workload.pods.map((pod) =>
            pod.uid === uid ? { ...pod, isReady: true, readyAt: at, phase: 'Running' as const } : pod,
          )
          const old = pods.find((pod) => pod.revision !== workload.revision && pod.deletedAt === undefined)
          const left =
            old && workload.kind === 'deployment'
              ? pods.map((pod) => (pod === old ? { ...pod, deletedAt: at } : pod))
              : pods
          const isDone =
            left.filter((pod) => pod.revision === workload.revision && pod.isReady).length >= workload.replicas
          const conditions = isDone
            ? conditionsAt(workload.conditions, at, 'NewReplicaSetAvailable')
            : workload.conditions
          return { ...workload, pods: left, conditions }
        })
      this.#change(madeMs + podMs - 1 + GRACE_MS, name, (workload, at) => ({
        ...workload,
        pods: workload.pods.filter((pod) => pod.deletedAt === undefined || at - pod.deletedAt < GRACE_MS),
      }))
    }
    return this.#change(afterMs + PROGRESS_DEADLINE_MS, name, (workload, at) =>
      workload.template === template && isUnderWay(workload)
        ? { ...workload, conditions: conditionsAt(workload.conditions, at, 'ProgressDeadlineExceeded') }
        : workload,
    )
  }

  /** Pauses the roll-out, so that no pod is replaced from then on. */
  pause(afterMs: number, name = 'web'): this {
    return this.#change(afterMs, name, (workload) => ({
      ...workload,
      ...{ isPaused: true, generation: workload.generation + 1, observed: workload.generation + 1 },
    }))
  }

  /** Changes what is no image, which raises the generation. */
  edit(afterMs: number, name = 'web', observedAfterMs = CONTROLLER_MS): this {
    return this.#change(afterMs, name, (workload) => ({ ...workload, generation: workload.generation + 1 })).#change(
      afterMs + observedAfterMs,
      name,
      (workload) => ({ ...workload, observed: workload.generation }),
    )
  }

  scale(afterMs: number, replicas: number, name = 'web'): this {
    const uids = Array.from({ length: 12 }, () => this.#uid())
    return this.#change(afterMs, name, (workload, at) => {
      const { revision, template, pods } = workload
      const kept = pods.slice(0, replicas)
      const more = uids
        .slice(0, Math.max(0, replicas - kept.length))
        .map((uid, index) =>
          podOf({ uid, owner: ownerOf(workload), revision, template, number: kept.length + index, at, name }),
        )
      const generation = workload.generation + 1
      return { ...workload, replicas, generation, observed: generation, pods: [...kept, ...more] }
    })
  }

  /** Deletes all pods, as a drained node does; their successors pull the image again, which may be another one under a tag. */
  replacePods(afterMs: number, template?: Template, name = 'web'): this {
    const uids = Array.from({ length: 12 }, () => this.#uid())
    return this.#change(afterMs, name, (workload, at) => ({
      ...workload,
      pods: workload.pods.map((pod, index) => ({
        ...podOf({
          uid: uids[index]!,
          owner: pod.owner,
          revision: pod.revision,
          template: template ?? pod.template,
          number: pod.number,
          at,
          name,
        }),
      })),
    }))
  }

  /** Changes the pods, which no template says. */
  changePods(afterMs: number, change: (pod: Pod, at: number) => Partial<Pod>, name = 'web'): this {
    return this.#change(afterMs, name, (workload, at) => ({
      ...workload,
      pods: workload.pods.map((pod) => ({ ...pod, ...change(pod, at) })),
    }))
  }

  /** Changes the template while no controller looks: the generation rises, and the status stays. */
  setTemplate(afterMs: number, template: Template, name = 'web'): this {
    return this.#change(afterMs, name, (workload) => ({ ...workload, template, generation: workload.generation + 1 }))
  }

  /** Evicts a pod from its node: it stays as a failed one, and another one was started in its place. */
  evict(afterMs: number, name = 'web'): this {
    const uid = this.#uid()
    return this.#change(afterMs, name, (workload) => {
      const [first] = workload.pods
      const failed = first && {
        ...first,
        uid,
        name: `${name}-${uid.slice(-6)}`,
        isReady: false,
        phase: 'Failed' as const,
      }
      return failed ? { ...workload, pods: [...workload.pods, failed] } : workload
    })
  }

  /** Adds a pod that has the labels of the workload, and another owner or none. */
  stray(afterMs: number, template: Template, owner = ''): this {
    const uid = this.#uid()
    return this.#then(afterMs, (draft, at) => {
      draft.strays.push(podOf({ uid, owner, revision: 1, template, number: 99, at, name: 'web-canary' }))
    })
  }

  remove(afterMs: number, name = 'web'): this {
    return this.#then(afterMs, (draft) => {
      if (!draft.workloads.delete(name)) throw new Error(`there is no ${name}`)
    })
  }

  #change(afterMs: number, name: string, change: (workload: Workload, at: number) => Workload): this {
    return this.#then(afterMs, (draft, at) => {
      const workload = draft.workloads.get(name)
      if (workload) draft.workloads.set(name, change(workload, at))
    })
  }

  #then(afterMs: number, apply: (draft: Draft, at: number) => void): this {
    this.#steps.push({ at: this.#start + afterMs, apply })
    return this
  }

  #uid(): string {
    return `7d9c4d1e-0000-4000-8000-${String(++this.#uids).padStart(12, '0')}`
  }
}

/** Number of pods that a roll-out replaces. */
function rolled({ kind, replicas, partition, strategy }: Workload): number {
  if (strategy === 'OnDelete') return 0
  return kind === 'statefulset' ? replicas - partition : replicas
}

function ownerOf({ kind, uid, replicaSets, revision }: Workload): string {
  return kind === 'deployment' ? replicaSets.find((one) => one.revision === revision)!.uid : uid
}

function isUnderWay({ conditions }: Workload): boolean {
  return conditions.some(({ type, reason }) => type === 'Progressing' && reason !== 'NewReplicaSetAvailable')
}

interface NewPod {
  readonly uid: string
  readonly owner: string
  readonly revision: number
  readonly template: Template
  readonly number: number
  readonly at: number
  readonly name: string
  readonly isReady?: boolean
  readonly waits?: string | undefined
}

function podOf({ uid, at, name, isReady = true, waits, ...more }: NewPod): Pod {
  const times = { createdAt: at, startedAt: at + 500, readyAt: at + 1000, restarts: 0 }
  const phase = isReady ? ('Running' as const) : ('Pending' as const)
  return {
    ...more,
    uid,
    name: `${name}-${uid.slice(-6)}`,
    ...times,
    isReady,
    phase,
    ...(waits !== undefined && { waits }),
  }
}

/** Sets the condition of progress as the controller does: the time of its last change stays while its status is the same. */
function conditionsAt(known: readonly Condition[], at: number, reason: string, changedAt = at): readonly Condition[] {
  const status = reason === 'ProgressDeadlineExceeded' ? ('False' as const) : ('True' as const)
  const old = known.find(({ type }) => type === 'Progressing')
  if (old?.status === status && old.reason === reason) return known
  const progress = {
    type: 'Progressing',
    status,
    reason,
    updatedAt: at,
    changedAt: old?.status === status ? old.changedAt : changedAt,
  } as const
  const available = known.find(({ type }) => type === 'Available') ?? {
    ...{ type: 'Available', status: 'True', reason: 'MinimumReplicasAvailable', updatedAt: at, changedAt },
  }
  return [available as Condition, progress]
}
