/** Compares the image of a container, as the pod's specification and the kubelet's status name it, with a claimed digest. */
import type { Pod } from './api.ts'

/** A digest at the end of a reference: `docker-pullable://repo@sha256:...`, `repo@sha256:...`. */
const PINNED = /@(sha256:[0-9a-f]{64})$/
/** The id of an image without its repository, which may be the digest of its configuration. */
const BARE = /^(?:docker:\/\/)?(sha256:[0-9a-f]{64})$/

/** The digest by which a reference names its image; undefined for a tag. */
export function pinnedDigest(image: string | undefined): string | undefined {
  return PINNED.exec(image ?? '')?.[1]
}

export interface PodImage {
  /** Tells whether the pod runs the claimed digest, by its status or by its specification. */
  readonly isClaimed: boolean
  /** Tells that the pod runs another image for certain. */
  readonly isOther: boolean
  /** The digest that the pod runs, in the repository's terms; undefined if nothing tells it. */
  readonly digest: string | undefined
}

export interface ClaimedImage {
  readonly container: string
  readonly digest: string
  /** The digests by which the workload names its image, now and in earlier revisions. */
  readonly named: ReadonlySet<string>
}

/**
 * Reads what a container of a pod runs. One image may have two digests, that of an index and that of its part for one architecture, and only a
 * registry relates them: so a specification that names the claimed digest counts, and another digest is another image only where the workload
 * itself tells the two apart.
 */
export function imageOf({ spec, status }: Pod, { container, digest, named }: ClaimedImage): PodImage {
  const pinned = pinnedDigest(spec.containers.find(({ name }) => name === container)?.image)
  const id = status.containerStatuses?.find(({ name }) => name === container)?.imageID ?? ''
  const running = pinnedDigest(id)
  const isClaimed = id !== '' && [running, BARE.exec(id)?.[1], pinned].includes(digest)
  const isTold = named.has(digest) && pinned !== undefined && named.has(pinned)
  const isOther = !isClaimed && isTold && running !== undefined
  return { isClaimed, isOther, digest: isClaimed ? digest : running }
}

/** Tells whether a container of a pod runs now, and the pod takes requests. */
export function isReady({ status }: Pod, container: string): boolean {
  const own = status.containerStatuses?.find(({ name }) => name === container)
  const isRunning = own?.ready === true && own.state?.running !== undefined
  return status.phase === 'Running' && isRunning && readySince({ status }) !== undefined
}

/** The time since when a pod is ready; undefined if it is not. */
export function readySince({ status }: Pick<Pod, 'status'>): number | undefined {
  const ready = status.conditions?.find(({ type, status }) => type === 'Ready' && status === 'True')
  return ready && Date.parse(ready.lastTransitionTime ?? '')
}
