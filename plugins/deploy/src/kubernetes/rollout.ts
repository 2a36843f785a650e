/** Reads a rollout: the state of a workload, and which of its pods are of its current revision. */
import { DestinationError } from '@claimcheck/core/plugin'
import type { openCluster, Pod, ReplicaSet, Workload } from './api.ts'
import { pinnedDigest } from './image.ts'

export interface Rollout {
  readonly workload: Workload
  readonly desired: number
  /** Tells whether the status is of the current specification. */
  readonly isObserved: boolean
  /** Tells whether all pods are of the current revision, by the status. */
  readonly isRolledOut: boolean
  /** Tells whether as many pods as desired are available, by the status. */
  readonly isAvailable: boolean
  /** Pods of the current revision that are not being stopped. */
  readonly current: readonly Pod[]
  /** Pods of other revisions that are not being stopped. */
  readonly old: readonly Pod[]
  /** Pods of other revisions that are being stopped. */
  readonly leaving: readonly Pod[]
  /** The digests by which the workload names its image, now and in earlier revisions. */
  readonly named: ReadonlySet<string>
  /** Tells that the controller says of the rollout that it is not complete, which StatefulSets and DaemonSets do not say. */
  readonly isUnfinished: boolean
  /** The number of the revision, as a Deployment counts them. */
  readonly revision: number | undefined
  /** The time at which the controller saw the rollout as complete; undefined if it does not tell. */
  readonly completedAt: number | undefined
  /** The earliest moment at which the image can have run; undefined where no history tells. */
  readonly notBefore: number | undefined
}

const REVISION = 'deployment.kubernetes.io/revision'
const HASH = 'controller-revision-hash'

type Cluster = ReturnType<typeof openCluster>

interface Subject {
  readonly namespace: string
  readonly kind: string
  readonly container: string
  readonly digest: string
}

export async function readRollout(cluster: Cluster, workload: Workload, subject: Subject): Promise<Rollout> {
  const { namespace, kind } = subject
  const sets = kind === 'deployment' ? ownedBy([workload], await cluster.replicaSets(namespace, workload)) : []
  const pods = await cluster.pods(namespace, workload)
  const current = currentSet(workload, sets, subject)
  const isCurrent = selectCurrent(kind, workload, current)
  const own = ownedBy(kind === 'deployment' ? sets : [workload], pods)
  const staying = own.filter(({ metadata, status }) => metadata.deletionTimestamp === undefined && !isOver(status))
  const leaving = own.filter(({ metadata, status }) => metadata.deletionTimestamp !== undefined && !isOver(status))
  return {
    workload,
    ...stateOf(kind, workload),
    current: staying.filter(isCurrent),
    old: staying.filter((pod) => !isCurrent(pod)),
    leaving: leaving.filter((pod) => !isCurrent(pod)),
    named: new Set([workload, ...sets].flatMap((one) => pinnedDigest(imageIn(one, subject.container)) ?? [])),
    isUnfinished: kind === 'deployment' && UNFINISHED.has(progressOf(workload)?.reason ?? ''),
    revision: kind === 'deployment' ? revisionOf(workload) : undefined,
    completedAt: current && completionOf(workload, current),
    notBefore: current && earliestOf(workload, sets, subject),
  }
}

/** Keeps what workloads or ReplicaSets control. Others may have the same labels, and one made again under its name has another uid. */
function ownedBy<T extends Pick<Pod, 'metadata'>>(
  owners: readonly Pick<Pod, 'metadata'>[],
  objects: readonly T[],
): readonly T[] {
  const uids = new Set(owners.map(({ metadata }) => metadata.uid))
  return objects.filter(({ metadata }) =>
    metadata.ownerReferences?.some((owner) => owner.controller && uids.has(owner.uid)),
  )
}

/** The reasons of `Progressing` while a rollout is under way, or where it did not come to its end. */
const UNFINISHED: ReadonlySet<string> = new Set([
  'NewReplicaSetCreated',
  'FoundNewReplicaSet',
  'ReplicaSetUpdated',
  'ProgressDeadlineExceeded',
])

function progressOf({ status }: Workload) {
  return status.conditions?.find(({ type }) => type === 'Progressing')
}

function isOver({ phase }: Pod['status']): boolean {
  return phase === 'Succeeded' || phase === 'Failed'
}

function stateOf(kind: string, { metadata, spec, status }: Workload) {
  const isSet = kind === 'daemonset'
  const desired = isSet ? status.desiredNumberScheduled : (spec.replicas ?? 1)
  if (desired === undefined || metadata.generation === undefined) throw new DestinationError('unexpected_response')
  const { updated, all, available } = isSet
    ? { updated: status.updatedNumberScheduled, all: desired, available: status.numberAvailable }
    : { updated: status.updatedReplicas, all: status.replicas, available: status.availableReplicas }
  const readyOnes = isSet ? status.numberReady : status.readyReplicas
  return {
    desired,
    isObserved: (status.observedGeneration ?? 0) >= metadata.generation,
    isRolledOut: (updated ?? 0) === desired && (all ?? 0) === desired,
    isAvailable: Math.min(available ?? 0, readyOnes ?? 0) >= desired,
  }
}

/** The ReplicaSet of a Deployment's current template; undefined where there is none yet, as while a Deployment is paused. */
function currentSet(workload: Workload, sets: readonly ReplicaSet[], { container }: Subject): ReplicaSet | undefined {
  const revision = revisionOf(workload)
  return sets.find(
    (set) =>
      revision !== undefined &&
      revisionOf(set) === revision &&
      imageIn(set, container) === imageIn(workload, container),
  )
}

function selectCurrent(kind: string, workload: Workload, current: ReplicaSet | undefined): (pod: Pod) => boolean {
  if (kind === 'deployment') return (pod) => current !== undefined && ownedBy([current], [pod]).length === 1
  const { updateRevision } = workload.status
  if (kind === 'statefulset')
    return ({ metadata }) => updateRevision !== undefined && metadata.labels?.[HASH] === updateRevision
  // A DaemonSet does not name its revision: its status says that all pods have it, and their labels say whether it is one.
  return () => true
}

function revisionOf({ metadata }: Pick<Workload, 'metadata'>): number | undefined {
  const revision = Number(metadata.annotations?.[REVISION])
  return Number.isSafeInteger(revision) ? revision : undefined
}

function imageIn({ spec }: Pick<ReplicaSet, 'spec'>, container: string): string | undefined {
  return spec.template.spec.containers.find(({ name }) => name === container)?.image
}

/** The time at which a Deployment's controller saw the rollout of a ReplicaSet as complete, with no pods of another one. */
function completionOf(workload: Workload, { metadata }: ReplicaSet): number | undefined {
  const progress = progressOf(workload)
  if (progress?.status !== 'True' || progress.reason !== 'NewReplicaSetAvailable') return undefined
  const named = /"([^"]+)"/.exec(progress.message ?? '')?.[1]
  if (named !== metadata.name) return undefined
  const at = Date.parse(progress.lastUpdateTime ?? progress.lastTransitionTime ?? '')
  return Number.isNaN(at) ? undefined : at
}

const USUAL_HISTORY = 10

/**
 * The creation of the first ReplicaSet that may have run the claimed image: each but those of another digest. Undefined where the history may be cut.
 */
function earliestOf(
  { metadata, spec }: Workload,
  sets: readonly ReplicaSet[],
  { container, digest }: Subject,
): number | undefined {
  if (sets.length > (spec.revisionHistoryLimit ?? USUAL_HISTORY)) return undefined
  const able = sets.filter((set) => [undefined, digest].includes(pinnedDigest(imageIn(set, container))))
  const isWhole = !sets.some((set) => set.metadata.creationTimestamp < metadata.creationTimestamp)
  return isWhole ? Math.min(...able.map((set) => Date.parse(set.metadata.creationTimestamp))) : undefined
}
