/** Vercel's REST API over a scripted project: aliases, deployments by id and by host, projects with their domains, rolling releases, scopes and refusals. */

import type { Answer, Asked } from '../../../../test/traps/scripted-server.ts'
import {
  type Alias,
  DEFAULT_DOMAIN,
  type Deployment,
  DOMAIN,
  type Project,
  type ProjectInfo,
  type VercelState,
} from './project.ts'
import { faultsOf } from './published.ts'

export const TOKEN = 'vcp_4711abcdefghijklmnopqrst'
export const TEAM = 'team_acme4711'
export const SLUG = 'acme'
const USER = { uid: 'usr_4711', username: 'agent', email: 'agent@acme.example' }

export interface Vercel {
  readonly project: Project
  /** Teams that the token may read; the usual one when left out. */
  readonly teams?: readonly string[]
  /** Tells no alias, which some tokens of a project may not read. */
  readonly hidesAliases?: boolean
  /** The project is set up for rolling releases, whether one is under way or not. */
  readonly hasRollingReleases?: boolean
  /** Lists fall behind by so much. */
  readonly listLagMs?: number
}

class VercelError extends Error {
  readonly status: number
  readonly code: string
  readonly more: object

  constructor(status: number, code: string, message: string, more: object = {}) {
    super(message)
    this.status = status
    this.code = code
    this.more = more
  }
}

export function errorAnswer(status: number, code: string, message: string, more: object = {}): Answer {
  return { status, body: { error: { code, message, ...more } } }
}

export function createVercel(vercel: Vercel): (asked: Asked, faults: string[]) => Answer {
  return (asked, faults) => {
    try {
      return { status: 200, body: answerOf(vercel, asked, faults) }
    } catch (error) {
      if (!(error instanceof VercelError)) throw error
      return errorAnswer(error.status, error.code, error.message, error.more)
    }
  }
}

const notFound = (what: string) => new VercelError(404, 'not_found', `The ${what} was not found.`)

function answerOf(vercel: Vercel, asked: Asked, faults: string[]): unknown {
  const { method, headers, url, path, shown } = asked
  if (method !== 'GET') faults.push(`${method} ${path}: reads are GET`)
  // A token that is not known is forbidden, and not unauthorized.
  if (headers.authorization !== `Bearer ${TOKEN}`)
    throw new VercelError(403, 'forbidden', 'Not authorized', { invalidToken: true })
  const { teams = [TEAM], listLagMs = 0 } = vercel
  const query = url.searchParams
  const [version = '', kind, id, part, more] = path.slice(1).split('/').map(decodeURIComponent)
  if (!/^v[0-9]+$/.test(version)) throw notFound('page')
  if (kind === 'user') return { user: USER }
  if (kind === 'teams') return teamOf(teams, id)
  const named = query.get('teamId') ?? (query.get('slug') === SLUG ? TEAM : (query.get('slug') ?? undefined))
  if (named !== undefined && !teams.includes(named)) throw new VercelError(403, 'forbidden', 'Not authorized')
  // Without its team, a request is about the user's own projects, of which there are none.
  const state: VercelState =
    named === undefined ? { projects: new Map(), deployments: new Map(), aliases: new Map() } : vercel.project.at(shown)
  if (kind === 'aliases' && id !== undefined) return aliasAt(vercel, state, id, query, faults)
  if (kind === 'deployments' && id !== undefined && part === undefined) return deploymentAt(state, id, faults)
  if (kind === 'deployments' && id !== undefined && part === 'aliases')
    return {
      aliases: [...state.aliases.values()]
        .filter(({ deployment }) => deployment === id)
        .map(({ name, createdAt }) => ({
          uid: uidOf(name),
          alias: name,
          created: new Date(createdAt).toISOString(),
          redirect: null,
        })),
    }
  if (kind === 'deployments') return listOf(vercel, vercel.project.at(shown - listLagMs), query, faults)
  if (kind === 'aliases')
    return {
      aliases: [...state.aliases.values()].map((alias) => aliasObject(alias, state, faults)),
      pagination: { count: state.aliases.size, next: null, prev: null },
    }
  if (kind !== 'projects' || id === undefined) throw notFound('page')
  const project = [...state.projects.values()].find((one) => one.id === id || one.name === id)
  if (!project) throw new VercelError(404, 'not_found', 'Project not found.')
  if (part === undefined) return projectObject(vercel, project, state, faults)
  if (part === 'domains') return domainsOf(project, state, more, faults)
  if (part === 'rolling-release' && more === undefined) return { rollingRelease: rollingObject(project, state) }
  if (part === 'rolling-release' && more === 'config')
    return { rollingRelease: vercel.hasRollingReleases ? CONFIG : null }
  throw notFound('page')
}

function teamOf(teams: readonly string[], id: string | undefined) {
  const team = { id: TEAM, slug: SLUG, name: 'Acme' }
  if (id === undefined)
    return { teams: teams.includes(TEAM) ? [team] : [], pagination: { count: 1, next: null, prev: null } }
  if (!teams.includes(TEAM) || (id !== TEAM && id !== SLUG)) throw new VercelError(403, 'forbidden', 'Not authorized')
  return team
}

function uidOf(name: string): string {
  return Buffer.from(name).toString('hex').slice(0, 24)
}

function aliasAt({ hidesAliases }: Vercel, state: VercelState, id: string, query: URLSearchParams, faults: string[]) {
  if (hidesAliases) throw new VercelError(403, 'forbidden', 'You do not have permission to access this resource.')
  const alias = [...state.aliases.values()].find(({ name }) => name === id || uidOf(name) === id)
  const projectId = query.get('projectId')
  if (!alias || (projectId !== null && projectIdOf(state, alias.project) !== projectId)) throw notFound('alias')
  return aliasObject(alias, state, faults)
}

function projectIdOf({ projects }: VercelState, name: string): string {
  return projects.get(name)?.id ?? `prj_${name}4711`
}

function aliasObject(alias: Alias, state: VercelState, faults: string[]) {
  const { name, deployment, project, createdAt, updatedAt, redirect, deletedAt } = alias
  const found = deployment === null ? undefined : state.deployments.get(deployment)
  const body = {
    ...{ uid: uidOf(name), alias: name, created: new Date(createdAt).toISOString(), createdAt, updatedAt },
    ...{ deploymentId: deployment, projectId: projectIdOf(state, project), creator: USER },
    ...(found && { deployment: { id: found.id, url: found.url } }),
    ...(redirect !== undefined && { redirect, redirectStatusCode: 308 }),
    ...(deletedAt !== undefined && { deletedAt }),
  }
  faults.push(...faultsOf('vercel alias', body))
  return body
}

/** Finds a deployment by its id, its own host, or the host of an alias. */
function deploymentAt(state: VercelState, id: string, faults: string[]) {
  const host = id.replace(/^https:\/\//, '')
  const alias = state.aliases.get(host)
  const deployment = [...state.deployments.values()].find(
    (one) => one.id === host || one.url === host || (alias?.deployment && one.id === alias.deployment),
  )
  if (!deployment) throw new VercelError(404, 'not_found', `Can't find the deployment "${id}"`)
  return deploymentObject(deployment, state, faults)
}

function metaOf({ commit, source, meta }: Deployment): Readonly<Record<string, string>> {
  const git = commit !== undefined && source === 'git'
  return git
    ? {
        githubCommitSha: commit,
        githubCommitRef: 'main',
        githubCommitOrg: 'acme',
        githubCommitRepo: 'shop',
        githubDeployment: '1',
        ...meta,
      }
    : meta
}

function deploymentObject(deployment: Deployment, state: VercelState, faults: string[]) {
  const { id, url, project, createdAt, readyState, readyAt, target, substate, source, commit, aliasedAt } = deployment
  const alias = [...state.aliases.values()].filter((one) => one.deployment === id).map(({ name }) => name)
  const git = { type: 'github', repoId: 4711, ref: 'main', sha: commit, prId: null }
  const body = {
    ...{
      id,
      url,
      name: project,
      projectId: projectIdOf(state, project),
      ownerId: TEAM,
      plan: 'pro',
      type: 'LAMBDAS',
      version: 2,
    },
    ...{
      createdAt,
      createdIn: 'fra1',
      buildingAt: createdAt + 100,
      bootedAt: createdAt + 100,
      readyState,
      target,
      source,
    },
    ...{
      alias,
      aliasAssigned: aliasedAt !== undefined,
      aliasError: null,
      public: false,
      inspectorUrl: null,
      regions: ['fra1'],
      routes: null,
    },
    ...{ build: { env: [] }, env: [], creator: USER, isInConcurrentBuildsQueue: false, meta: metaOf(deployment) },
    ...(aliasedAt !== undefined && { aliasAssignedAt: aliasedAt }),
    ...(readyAt !== undefined && { ready: readyAt }),
    ...(substate && { readySubstate: substate }),
    ...(commit !== undefined && source === 'git' && { gitSource: git }),
    team: { id: TEAM, name: 'Acme', slug: SLUG },
  }
  faults.push(...faultsOf('vercel deployment', body))
  return body
}

function listOf(_vercel: Vercel, state: VercelState, query: URLSearchParams, _faults: string[]) {
  const [project, target, most] = [
    query.get('projectId') ?? query.get('app'),
    query.get('target'),
    Number(query.get('limit') ?? 20),
  ]
  const found = [...state.deployments.values()]
    .filter((one) => project === null || one.project === project || projectIdOf(state, one.project) === project)
    .filter((one) => target === null || one.target === target)
    .toSorted((one, other) => other.createdAt - one.createdAt)
  const deployments = found.slice(0, most).map((one) => ({
    ...{
      uid: one.id,
      name: one.project,
      url: one.url,
      created: one.createdAt,
      createdAt: one.createdAt,
      state: one.readyState,
      readyState: one.readyState,
    },
    ...{
      type: 'LAMBDAS',
      creator: USER,
      meta: metaOf(one),
      target: one.target,
      aliasError: null,
      aliasAssigned: one.aliasedAt ?? null,
    },
    ...{ source: one.source, isRollbackCandidate: one.aliasedAt !== undefined, inspectorUrl: null, ready: one.readyAt },
    ...(one.substate && { readySubstate: one.substate }),
  }))
  return {
    deployments,
    pagination: { count: deployments.length, next: found.length > most ? found[most]!.createdAt : null, prev: null },
  }
}

const CONFIG = { target: 'production', stages: [{ targetPercentage: 25, duration: 5 }, { targetPercentage: 100 }] }

function projectObject({ hasRollingReleases }: Vercel, project: ProjectInfo, state: VercelState, faults: string[]) {
  const { id, name, createdAt, rollback } = project
  const mine = [...state.aliases.values()].filter((alias) => alias.project === name && alias.deployment !== null)
  const production = state.deployments.get((state.aliases.get(DOMAIN) ?? mine[0])?.deployment ?? '')
  const body = {
    ...{
      id,
      name,
      accountId: TEAM,
      createdAt,
      updatedAt: createdAt,
      directoryListing: false,
      nodeVersion: '22.x',
      live: false,
    },
    link: { type: 'github', org: 'acme', repo: 'shop', repoId: 4711, productionBranch: 'main' },
    targets: production
      ? { production: { ...deploymentObject(production, state, faults), alias: mine.map((alias) => alias.name) } }
      : {},
    latestDeployments: [...state.deployments.values()]
      .filter((one) => one.project === name)
      .slice(-10)
      .map((one) => deploymentObject(one, state, faults)),
    ...(rollback && {
      lastRollbackTarget: {
        fromDeploymentId: rollback.from,
        toDeploymentId: rollback.to,
        requestedAt: rollback.at,
        jobStatus: 'succeeded',
      },
    }),
    // A configuration is the template of rolling releases to come, and says nothing of one under way.
    ...(hasRollingReleases && { rollingRelease: CONFIG }),
  }
  faults.push(...faultsOf('vercel project', body))
  return body
}

function domainsOf({ id, name }: ProjectInfo, state: VercelState, one: string | undefined, faults: string[]) {
  const domains = [...state.aliases.values()]
    .filter((alias) => alias.project === name)
    .map((alias) => ({
      ...{ name: alias.name, apexName: alias.name.split('.').slice(-2).join('.'), projectId: id, verified: true },
      ...{ redirect: alias.redirect ?? null, redirectStatusCode: alias.redirect ? 308 : null, gitBranch: null },
      ...{ createdAt: alias.createdAt, updatedAt: alias.createdAt },
    }))
  for (const domain of domains) faults.push(...faultsOf('vercel domain', domain))
  if (one === undefined) return { domains, pagination: { count: domains.length, next: null, prev: null } }
  const found = domains.find((domain) => domain.name === one)
  if (!found) throw new VercelError(404, 'not_found', 'Project Domain not found.')
  return found
}

function rollingObject({ rolling }: ProjectInfo, { deployments }: VercelState) {
  if (!rolling) return null
  const shown = (id: string) => {
    const one = deployments.get(id)!
    return {
      id,
      name: one.project,
      url: one.url,
      target: one.target,
      source: one.source,
      createdAt: one.createdAt,
      readyStateAt: one.readyAt,
    }
  }
  const stage = {
    index: 0,
    isFinalStage: false,
    targetPercentage: rolling.percentage,
    requireApproval: true,
    duration: null,
  }
  return {
    ...{ state: rolling.state, currentDeployment: shown(rolling.current), canaryDeployment: shown(rolling.canary) },
    ...{
      queuedDeploymentId: null,
      advancementType: 'manual-approval',
      stages: [stage, { ...stage, index: 1, isFinalStage: true, targetPercentage: 100 }],
    },
    ...{
      activeStage: rolling.state === 'ACTIVE' ? stage : null,
      nextStage: null,
      startedAt: rolling.startedAt,
      updatedAt: rolling.updatedAt,
    },
  }
}

/** The domains that a project has at first. */
export const DOMAINS = [DOMAIN, DEFAULT_DOMAIN]
