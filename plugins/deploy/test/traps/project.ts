/** A scripted project at Vercel: its deployments, domains and rolling releases as they are at each moment. */
import { createHash } from 'node:crypto'

export interface Deployment {
  readonly id: string
  readonly url: string
  readonly project: string
  readonly createdAt: number
  readonly readyState: 'QUEUED' | 'BUILDING' | 'READY' | 'ERROR' | 'CANCELED'
  readonly readyAt?: number
  readonly target: 'production' | 'staging' | null
  readonly substate?: 'STAGED' | 'ROLLING' | 'PROMOTED'
  readonly source: 'git' | 'cli' | 'import'
  /** The commit that the host of the repository told Vercel. */
  readonly commit?: string
  /** Metadata, which who deploys by the command line chooses. */
  readonly meta: Readonly<Record<string, string>>
  /** The moment at which its first aliases were assigned, which no later assignment moves. */
  readonly aliasedAt?: number
}

export interface Alias {
  readonly name: string
  readonly deployment: string | null
  readonly project: string
  readonly createdAt: number
  readonly updatedAt: number
  readonly redirect?: string
  readonly deletedAt?: number
}

export interface Rolling {
  readonly state: 'ACTIVE' | 'COMPLETE' | 'ABORTED'
  readonly current: string
  readonly canary: string
  readonly percentage: number
  readonly startedAt: number
  readonly updatedAt: number
}

export interface ProjectInfo {
  readonly id: string
  readonly name: string
  readonly createdAt: number
  readonly rollback?: { readonly from: string; readonly to: string; readonly at: number }
  readonly rolling?: Rolling
}

export interface VercelState {
  readonly projects: ReadonlyMap<string, ProjectInfo>
  readonly deployments: ReadonlyMap<string, Deployment>
  readonly aliases: ReadonlyMap<string, Alias>
}

type Draft = {
  projects: Map<string, ProjectInfo>
  deployments: Map<string, Deployment>
  aliases: Map<string, Alias>
}

export const PROJECT = 'shop'
export const DOMAIN = 'shop.acme.example'
export const DEFAULT_DOMAIN = 'shop-acme.vercel.app'
const BUILD_MS = 1000

/** An id as Vercel makes them, the same for the same name. */
export function deploymentOf(name: string): string {
  return `dpl_${createHash('sha256').update(name).digest('base64').replace(/[+/=]/g, 'x').slice(0, 28)}`
}

export function commitOf(name: string): string {
  return createHash('sha1').update(name).digest('hex')
}

export const OLD = deploymentOf('the old one')
export const NEW = deploymentOf('the new one')
export const OTHER = deploymentOf('another one')
export const COMMIT = commitOf('the new one')
export const OLD_COMMIT = commitOf('the old one')

export type Given = Partial<Pick<Deployment, 'target' | 'source' | 'commit' | 'meta' | 'project' | 'readyState'>>

export class Project {
  readonly #start: number
  readonly #steps: { readonly at: number; readonly apply: (draft: Draft, at: number) => void }[] = []

  constructor(start: number) {
    this.#start = start
  }

  at(now: number): VercelState {
    const draft: Draft = { projects: new Map(), deployments: new Map(), aliases: new Map() }
    for (const { at, apply } of this.#steps.toSorted((one, other) => one.at - other.at)) if (at <= now) apply(draft, at)
    return draft
  }

  found(afterMs: number, name = PROJECT, id = `prj_${name}4711`): this {
    return this.#then(afterMs, ({ projects }, createdAt) => void projects.set(name, { id, name, createdAt }))
  }

  /** Removes a project with its deployments and domains. */
  dissolve(afterMs: number, name = PROJECT): this {
    return this.#then(afterMs, (draft) => {
      draft.projects.delete(name)
      for (const [id, one] of draft.deployments) if (one.project === name) draft.deployments.delete(id)
      for (const [id, one] of draft.aliases) if (one.project === name) draft.aliases.delete(id)
    })
  }

  /** Builds a deployment, which takes a second. It is staged until a domain is assigned. */
  build(afterMs: number, id: string, given: Given = {}): this {
    const { readyState = 'READY', ...more } = given
    const url = `shop-${id.slice(4, 13).toLowerCase()}-acme.vercel.app`
    const usual = { project: PROJECT, target: 'production', source: 'git', meta: {} } as const
    this.#then(afterMs, ({ deployments }, createdAt) => {
      const commit = 'commit' in given || given.source === 'cli' ? given.commit : COMMIT
      deployments.set(id, {
        id,
        url,
        createdAt,
        readyState: 'BUILDING',
        ...usual,
        ...more,
        ...(commit !== undefined && { commit }),
      })
    })
    return this.#change(afterMs + BUILD_MS, id, (one, at) => ({
      ...one,
      readyState,
      ...(readyState === 'READY' && {
        readyAt: at,
        ...(one.target === 'production' && { substate: 'STAGED' as const }),
      }),
    }))
  }

  /** Points domains to a deployment, as a build for production, a promotion and a rollback do. */
  assign(afterMs: number, id: string, ...names: readonly string[]): this {
    return this.#then(afterMs, ({ deployments, aliases }, at) => {
      const deployment = deployments.get(id)
      if (!deployment) throw new Error(`there is no ${id}`)
      deployments.set(id, { ...deployment, substate: 'PROMOTED', aliasedAt: deployment.aliasedAt ?? at })
      for (const name of names.length > 0 ? names : [DOMAIN, DEFAULT_DOMAIN]) {
        const createdAt = aliases.get(name)?.createdAt ?? at
        aliases.set(name, { name, deployment: id, project: deployment.project, createdAt, updatedAt: at })
      }
    })
  }

  /** Builds for production and assigns the domains two seconds later, as a push to the branch of production does. */
  release(afterMs: number, id: string, given: Given = {}): this {
    return this.build(afterMs, id, given).assign(afterMs + 2 * BUILD_MS, id)
  }

  rollBack(afterMs: number, from: string, to: string): this {
    return this.assign(afterMs, to).#project(afterMs, (project, at) => ({ ...project, rollback: { from, to, at } }))
  }

  /** Starts a rolling release, or changes it; at its end the domains go to the canary. */
  roll(afterMs: number, current: string, canary: string, percentage: number, state: Rolling['state'] = 'ACTIVE'): this {
    this.#project(afterMs, (project, at) => ({
      ...project,
      rolling: { state, current, canary, percentage, startedAt: project.rolling?.startedAt ?? at, updatedAt: at },
    }))
    this.#change(afterMs, canary, (one) => ({ ...one, substate: state === 'ABORTED' ? 'STAGED' : 'ROLLING' }))
    return state === 'COMPLETE' ? this.assign(afterMs, canary) : this
  }

  /** Makes a domain lead to another one. */
  redirect(afterMs: number, name: string, to: string, project = PROJECT): this {
    return this.#then(afterMs, ({ aliases }, at) => {
      aliases.set(name, { name, deployment: null, project, createdAt: at, updatedAt: at, redirect: to })
    })
  }

  unassign(afterMs: number, name: string): this {
    return this.#then(afterMs, ({ aliases }) => {
      if (!aliases.delete(name)) throw new Error(`there is no ${name}`)
    })
  }

  /** Changes what is told of a domain and says nothing of its deployment. */
  touch(afterMs: number, name: string, change: Partial<Alias> = {}): this {
    return this.#then(afterMs, ({ aliases }, at) => {
      aliases.set(name, { ...aliases.get(name)!, updatedAt: at, ...change })
    })
  }

  delete(afterMs: number, id: string): this {
    return this.#then(afterMs, ({ deployments }) => {
      if (!deployments.delete(id)) throw new Error(`there is no ${id}`)
    })
  }

  #project(afterMs: number, change: (project: ProjectInfo, at: number) => ProjectInfo): this {
    return this.#then(afterMs, ({ projects }, at) => void projects.set(PROJECT, change(projects.get(PROJECT)!, at)))
  }

  #change(afterMs: number, id: string, change: (one: Deployment, at: number) => Deployment): this {
    return this.#then(afterMs, ({ deployments }, at) => {
      const deployment = deployments.get(id)
      if (deployment) deployments.set(id, change(deployment, at))
    })
  }

  #then(afterMs: number, apply: (draft: Draft, at: number) => void): this {
    this.#steps.push({ at: this.#start + afterMs, apply })
    return this
  }
}
