/** Finds out whether a workload of a cluster runs a claimed image, and reports what its pods show. */
import {
  type CheckContext,
  type Claim,
  DestinationError,
  type Mark,
  type Observation,
  windowStart,
} from '@claimcheck/core/plugin'
import { placeOf } from '../place.ts'
import type { Facts, Params } from '../profile.ts'
import { tellingStay } from '../stay.ts'
import { openCluster, type Pod, type Workload } from './api.ts'
import type { Options } from './connection.ts'
import { type ClaimedImage, imageOf, isReady, pinnedDigest, readySince } from './image.ts'
import { type Rollout, readRollout } from './rollout.ts'

/** Milliseconds of the second that a time of Kubernetes means. */
const SECOND_MS = 999

export async function findImage(claim: Claim<Params>, context: CheckContext): Promise<Observation<Facts>> {
  const { target, params } = claim
  const [, namespace = '', kind = '', name = ''] = placeOf(target).segments
  const cluster = openCluster(context.connection!.options as Options, context)
  const workload = await cluster.workload(namespace, kind, name)
  if (!workload) {
    // Another place than the API server may answer its 404: the namespace's pods can be read at the right one.
    await cluster.requireNamespace(namespace)
    return { kind: 'absent', facts: {} }
  }
  const container = containerOf(workload, params.container)
  // A webhook may put a container into the pods alone, and a native sidecar is among the init containers.
  if (container === undefined) return { kind: 'absent', facts: {}, mark: 'may_have_been' }
  const digest = params.image_digest!
  const rollout = await readRollout(cluster, workload, { namespace, kind, container, digest })
  return report(rollout, { ...claim, container, digest, named: rollout.named })
}

/**
 * The name of the claimed container; undefined if the template has none of this name.
 * @throws DestinationError `unsupported_target` for a claim that does not say which of several it means
 */
function containerOf({ spec }: Workload, named: string | undefined): string | undefined {
  const names = spec.template.spec.containers.map(({ name }) => name)
  if (named !== undefined) return names.find((name) => name === named)
  if (names.length !== 1) throw new DestinationError('unsupported_target', { param: 'container' })
  return names[0]
}

type Claimed = ClaimedImage & Pick<Claim, 'claimedAt' | 'submittedAt'>

/** The ready pods: those of the current revision, those of any, and those of the current one that run the claimed digest. */
interface ReadyPods {
  readonly current: readonly Pod[]
  readonly all: readonly Pod[]
  readonly withDigest: readonly Pod[]
}

function report(rollout: Rollout, claim: Claimed): Observation<Facts> {
  const current = rollout.current.filter((pod) => isReady(pod, claim.container))
  const old = rollout.old.filter((pod) => isReady(pod, claim.container))
  const withDigest = current.filter((pod) => imageOf(pod, claim).isClaimed)
  const ready: ReadyPods = { current, all: [...current, ...old], withDigest }
  const facts = factsOf(rollout, ready)
  const absence = absenceOf(rollout, ready, claim)
  if (absence) return { kind: 'absent', facts, ...absence }
  if (withDigest.length < current.length) return reportOther(ready, facts, claim)
  const stays = staysOf(rollout, current, claim)
  return {
    kind: 'present',
    differs: [],
    facts: { ...facts, image_digest: claim.digest },
    ...(stays && { stays }),
  }
}

function factsOf({ workload, current, old, revision }: Rollout, { all, withDigest }: ReadyPods): Facts {
  const { generation } = workload.metadata
  const { observedGeneration } = workload.status
  return {
    pods: current.length + old.length,
    pods_ready: all.length,
    pods_with_digest: withDigest.length,
    ...(generation !== undefined && { generation }),
    ...(observedGeneration !== undefined && { observed_generation: observedGeneration }),
    ...(revision !== undefined && { revision }),
  }
}

/** Tells that no revision is live as a whole, with the mark of the read; undefined where one is. */
function absenceOf(rollout: Rollout, ready: ReadyPods, claim: Claimed): { readonly mark?: Mark } | undefined {
  const { workload, desired, old } = rollout
  // A workload that is being deleted, or was scaled to nothing, may have been live before.
  if (workload.metadata.deletionTimestamp !== undefined || desired === 0) return { mark: 'may_have_been' }
  if (!rollout.isObserved) return { mark: 'unsettled' }
  const isWhole = ready.current.length > 0 && ready.withDigest.length === ready.current.length
  const isShort = !rollout.isAvailable || ready.current.length < desired
  if (!rollout.isRolledOut || old.length > 0) return markOfMixed(ready.all, claim)
  if (isShort && !isWhole && ready.current.length > 0) return markOfMixed(ready.all, claim)
  // Pods that failed, or were added, after the rollout was complete do not say that it never was.
  if (isShort) return rollout.isUnfinished ? {} : { mark: 'may_have_been' }
  return isWhole && rollout.leaving.some((pod) => isReady(pod, claim.container)) ? { mark: 'unsettled' } : undefined
}

/** Reports a rollout that is complete, and not of the claimed image in each pod. */
function reportOther({ current, withDigest }: ReadyPods, facts: Facts, claim: Claimed): Observation<Facts> {
  const images = current.map((pod) => imageOf(pod, claim))
  const digests = new Set(images.map(({ digest }) => digest))
  const [digest] = digests
  if (withDigest.length > 0 || digests.size > 1 || digest === undefined)
    return { kind: 'absent', facts, mark: 'may_have_been' }
  const isOther = images.every((image) => image.isOther)
  const other = { ...facts, image_digest: digest }
  return { kind: 'present', differs: ['image_digest'], facts: other, ...(!isOther && { mark: 'may_have_been' }) }
}

/** The mark of a rollout under way: blame needs a pod that serves another image for certain, or that none is ready. */
function markOfMixed(ready: readonly Pod[], claim: Claimed): { readonly mark?: Mark } {
  const images = ready.map((pod) => imageOf(pod, claim))
  if (images.length === 0 || images.some(({ isOther }) => isOther)) return {}
  return { mark: images.every(({ isClaimed }) => isClaimed) ? 'unsettled' : 'may_have_been' }
}

/**
 * The time of the stay. By the end of the rollout, all pods were of the current template: that suffices if the template names the digest, and pods
 * of that time are there. A tag may have led elsewhere then, so that only the present pods count.
 */
function staysOf(rollout: Rollout, ready: readonly Pod[], claim: Claimed) {
  const { container, digest } = claim
  const { workload, completedAt, notBefore } = rollout
  if (completedAt === undefined) return undefined
  const template = workload.spec.template.spec.containers.find(({ name }) => name === container)
  const isPinned = pinnedDigest(template?.image) === digest
  const isFromThen = ready.some(({ metadata }) => Date.parse(metadata.creationTimestamp) <= completedAt)
  const notAfter =
    isPinned && isFromThen ? completedAt : Math.max(completedAt, ...ready.map((pod) => runningSince(pod, container)))
  if (Number.isNaN(notAfter)) return undefined
  // Before a workload of this name was made again, an earlier one may have run the image.
  const isOwn = Date.parse(workload.metadata.creationTimestamp) < windowStart(claim)
  return tellingStay({ notAfter: notAfter + SECOND_MS, notBefore: isOwn ? notBefore : undefined }, claim)
}

/** The later of the times since when a pod is ready, and its container runs. */
function runningSince(pod: Pod, container: string): number {
  const status = pod.status.containerStatuses?.find(({ name }) => name === container)
  return Math.max(readySince(pod) ?? Number.NaN, Date.parse(status?.state?.running?.startedAt ?? ''))
}
