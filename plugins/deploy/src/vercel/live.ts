/** Finds out to which deployment a domain of a project at Vercel leads, and reports how it compares with the claim. */
import { type CheckContext, type Claim, DestinationError, type Mark, type Observation } from '@claimcheck/core/plugin'
import { placeOf } from '../place.ts'
import type { Facts, Params } from '../profile.ts'
import { tellingStay } from '../stay.ts'
import { type Alias, type Deployment, openScope, type Project, type Release } from './api.ts'
import type { Options } from './connection.ts'

/** The most domains of production that a claim without a domain means. */
const MOST_DOMAINS = 4

export async function findDeployment(claim: Claim<Params>, context: CheckContext): Promise<Observation<Facts>> {
  const { target, params } = claim
  const [name = '', projectName = ''] = placeOf(target).segments
  const scope = await openScope(context.connection!.options as Options, context, name)
  const project = await scope.project(projectName)
  const domains = params.domain === undefined ? await scope.productionDomains(project) : [params.domain]
  if (domains.length > MOST_DOMAINS) throw new DestinationError('unsupported_target', { param: 'domain' })
  const [domain] = domains
  if (domain === undefined) throw new DestinationError('unsupported_target', { param: 'domain' })
  const assignments = await Promise.all(domains.map((one) => scope.alias(one, project)))
  const alias = assignments[0]
  const isOwn = (one: Alias | undefined) => one?.deploymentId != null && one.projectId === project.id
  if (assignments.some((one) => one?.redirect != null))
    throw new DestinationError('unsupported_target', { param: 'domain' })
  if (!alias || !assignments.every(isOwn)) {
    // An assignment of `*.acme.example` answers for names that have none of their own.
    const isUntold = assignments.some((one) => one?.projectId == null)
    return { kind: 'absent', facts: { domain }, ...(isUntold && { mark: 'may_have_been' }) }
  }
  // Domains of production that lead to several deployments leave open which is meant.
  if (assignments.some((one) => one?.deploymentId !== alias.deploymentId))
    return { kind: 'absent', facts: { domain }, mark: 'unsettled' }
  const deployment = await scope.deployment(alias.deploymentId!)
  if (deployment.projectId != null && deployment.projectId !== project.id)
    throw new DestinationError('unexpected_response')
  const release = project.rollingRelease == null ? undefined : await scope.release(project)
  return report({ claim, project, domain, assignments: assignments as readonly Alias[], deployment, release })
}

interface Found {
  readonly claim: Claim<Params>
  readonly project: Project
  readonly domain: string
  readonly assignments: readonly Alias[]
  readonly deployment: Deployment
  readonly release: Release | undefined
}

function report(found: Found): Observation<Facts> {
  const { claim, domain, assignments, deployment } = found
  const { params } = claim
  const aliasedAt = aliasedAtOf(assignments)
  const commit = commitOf(deployment)
  const facts: Facts = {
    domain,
    deployment: deployment.id,
    ...(commit !== undefined && { commit }),
    ...(/^[A-Z]{1,32}$/.test(deployment.readyState) && { ready_state: deployment.readyState }),
    ...(aliasedAt !== undefined && { aliased_at: new Date(aliasedAt).toISOString() }),
  }
  const doubt = doubtOf(found)
  if (doubt) return { kind: 'absent', facts, ...doubt }
  const isOther = {
    deployment: params.deployment !== deployment.id,
    commit: commit !== undefined && params.commit !== commit,
  }
  const differs = (['deployment', 'commit'] as const).filter((name) => params[name] !== undefined && isOther[name])
  if (differs.length > 0) return { kind: 'present', differs, facts }
  // Clients write `meta`: only `gitSource` is a word of Vercel about the commit.
  if (params.commit !== undefined && commit === undefined) return { kind: 'absent', facts, mark: 'may_have_been' }
  if (deployment.readyState !== 'READY' || deployment.readySubstate === 'ROLLING')
    return { kind: 'absent', facts, mark: 'unsettled' }
  const stays = staysOf(found, aliasedAt)
  return { kind: 'present', differs: [], facts, ...(stays && { stays }) }
}

/** Tells that a project answers from no deployment, or from two, with the mark of the read; undefined where one answers. */
function doubtOf({ claim: { params }, project, deployment, release }: Found): { readonly mark?: Mark } | undefined {
  // A paused project answers nobody, and its deployment may have answered before.
  if (project.paused) return { mark: 'may_have_been' }
  if (release?.state !== 'ACTIVE') return undefined
  const canary = release.canaryDeployment?.id
  // Others are still served by the deployment to which the domain leads.
  if (params.deployment !== undefined && params.deployment === canary && canary !== deployment.id) return {}
  const isPart = params.deployment === undefined || [canary, release.currentDeployment?.id].includes(params.deployment)
  return isPart ? { mark: 'unsettled' } : undefined
}

/** The commit from which Vercel built a deployment: one that its client names besides may not be what was built. */
function commitOf({ gitSource }: Deployment): string | undefined {
  const sha = gitSource?.sha?.toLowerCase()
  return sha !== undefined && /^[0-9a-f]{40}$/.test(sha) ? sha : undefined
}

/** The last time at which one of the domains was assigned; undefined where Vercel does not tell it: `createdAt` is of the first assignment. */
function aliasedAtOf(assignments: readonly Alias[]): number | undefined {
  const times = assignments.map(({ updatedAt }) => updatedAt)
  return times.some((at) => at == null) ? undefined : Math.max(...times.map(Number))
}

/** The stay of a deployment at its domain. Another deployment of the same commit may have been there before. */
function staysOf(
  { claim, deployment, release }: Pick<Found, 'claim' | 'deployment' | 'release'>,
  aliasedAt: number | undefined,
) {
  const { createdAt, ready } = deployment
  // A domain that was assigned before its deployment was made was assigned again without a time.
  if (aliasedAt === undefined || aliasedAt < createdAt) return undefined
  const notAfter = Math.max(aliasedAt, ready ?? createdAt, release?.updatedAt ?? 0)
  return tellingStay({ notAfter, notBefore: claim.params.deployment === undefined ? undefined : createdAt }, claim)
}
