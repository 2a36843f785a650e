/** A row of the trap table: what happens at a destination, what is claimed of it, and the verdict that is right. */
import type { JsonObject } from '@claimcheck/core/plugin'
import type { ScriptedScene } from '../../../../test/traps/scripted-life.ts'
import type { Answer, Asked, Serving } from '../../../../test/traps/scripted-server.ts'
import { nearDeadline, type Kind as RowKind, row, START, type TrapRow } from '../../../../test/traps/verifier-table.ts'
import { Cluster, NEW, type Rollout, templateOf } from './cluster.ts'
import * as kubernetes from './kubernetes-api.ts'
import * as vercel from './project.ts'
import * as vercelApi from './vercel-api.ts'

export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

export type Provider = 'kubernetes' | 'vercel' | 'version_endpoint'

export interface Scene extends ScriptedScene {
  readonly kubernetes?: kubernetes.Kubernetes
  readonly vercel?: vercelApi.Vercel
  /** The answers of a program that tells its version. */
  readonly version?: (asked: Asked) => Answer
}

export interface Row extends TrapRow<Scene> {
  readonly provider: Provider
}

export const TRUE: RowKind = ['in time', 'verified']
export const FAILED: RowKind = ['never', 'failed']
/** It was not done; a reader who is careful may say less. */
export const FAILED_MAYBE: RowKind = ['never', 'failed', 'unverifiable']
export const OTHER: RowKind = ['other', 'mismatch', 'failed']
/** It was done otherwise; a reader who is careful may say less. */
export const OTHER_MAYBE: RowKind = ['other', 'mismatch', 'failed', 'unverifiable']
export const LATE: RowKind = ['late', 'late']
/** It came late; a reader to whom another digest may be the same image may say less. */
export const LATE_MAYBE: RowKind = ['late', 'late', 'unverifiable']
/** It was done, and what is shown may do to tell. */
export const TRUE_MAYBE: RowKind = ['in time', 'verified', 'unverifiable']
/** It was done, and too little is shown of it. */
export const TRUE_UNTOLD: RowKind = ['in time', 'unverifiable']
/** It came late, and what is shown need not tell. */
export const LATE_UNTOLD: RowKind = ['late', 'unverifiable', 'late', 'failed']
/** It was not done, and blame may be more than what is seen. */
export const NOT_DONE: RowKind = ['never', 'unverifiable', 'failed']
/** It was not done, and the claim may be refused. */
export const UNTOLD: RowKind = ['never', 'unverifiable', 'refused', 'failed']
/** It was done otherwise, and blame may be more than what is seen. */
export const OTHER_UNTOLD: RowKind = ['other', 'unverifiable', 'mismatch', 'failed']
export const UNKNOWABLE: RowKind = ['unknowable', 'unverifiable']

export function rowsOf(provider: Provider) {
  return (kind: RowKind, title: string, why: string, scene: () => Scene): Row => {
    const near = nearDeadline(kind, { late: HOUR, other: 12 * MINUTE })
    return { provider, ...row(kind, title, why, () => ({ ...near, ...scene() })) }
  }
}

export function cluster(): Cluster {
  return new Cluster(START)
}

/** Milliseconds from the change of a template until a usual roll-out of two pods is over and the old pods are gone. */
export const ROLLED_MS = 10 * SECOND

/** A deployment of two pods of the old image, made a month ago, which the new one replaced before the claim. */
export function rolledOut({
  afterMs = -ROLLED_MS,
  ...rollout
}: Partial<Rollout> & { readonly afterMs?: number } = {}): Cluster {
  return cluster()
    .make(-30 * DAY)
    .rollOut(afterMs, { template: templateOf(NEW), ...rollout })
}

export function project(): vercel.Project {
  return new vercel.Project(START).found(-90 * DAY).release(-30 * DAY, vercel.OLD, { commit: vercel.OLD_COMMIT })
}

/** A project whose new deployment got the domains before the claim. */
export function released(given: vercel.Given = {}, afterMs = -3 * SECOND): vercel.Project {
  return project().release(afterMs, vercel.NEW, given)
}

/** An answer of what stands between, or of the destination in trouble, between two moments, to the requests that `on` names. */
export function instead(
  answer: Answer,
  { fromMs = -DAY, untilMs = 400 * DAY, on = /./ }: { fromMs?: number; untilMs?: number; on?: RegExp } = {},
): Serving['instead'] {
  return ({ now, method, path }: Asked) =>
    now >= START + fromMs && now < START + untilMs && on.test(`${method} ${path}`) ? answer : undefined
}

export interface Set {
  readonly answer: Serving['answer']
  readonly action: string
  /** Without one, the claim is read without a connection. */
  readonly options: JsonObject | undefined
  readonly target: string
  readonly secrets: readonly string[]
}

export const VERSION_URL = 'https://shop.acme.example/version'

/** The destination as it is, the connection as it says that it is, and the target of the claim. */
export function setOf(provider: Provider, scene: Scene): Set {
  const set = { kubernetes: kubernetesOf, vercel: vercelOf, version_endpoint: versionOf }[provider](scene)
  const options = set.options || scene.connection ? { ...set.options, ...scene.connection } : undefined
  return { ...set, options, target: scene.target ?? set.target }
}

function kubernetesOf({ kubernetes: given = { cluster: cluster() } }: Scene): Set {
  return {
    answer: kubernetes.createKubernetes(given),
    action: 'deploy.revision.live',
    options: { base_url: 'https://api.prod.example:6443', cluster: kubernetes.CLUSTER, token: kubernetes.TOKEN },
    target: `kubernetes:${kubernetes.CLUSTER}/${kubernetes.NAMESPACE}/deployment/web`,
    secrets: [kubernetes.TOKEN],
  }
}

function vercelOf({ vercel: given = { project: project() } }: Scene): Set {
  return {
    answer: vercelApi.createVercel(given),
    action: 'deploy.revision.live',
    options: { base_url: 'https://api.vercel.com', token: vercelApi.TOKEN, team_id: vercelApi.TEAM },
    target: `vercel:${vercelApi.SLUG}/${vercel.PROJECT}`,
    secrets: [vercelApi.TOKEN],
  }
}

function versionOf({ version = () => ({ status: 404, body: 'Not found' }) }: Scene): Set {
  const answer = (asked: Asked, faults: string[]) => {
    if (asked.method !== 'GET' && asked.method !== 'HEAD') faults.push(`${asked.method}: reads are GET`)
    return version(asked)
  }
  return { answer, action: 'deploy.version.answers', options: undefined, target: VERSION_URL, secrets: [] }
}
