/** Makes the row of a submitted claim: validates it against its profile, normalizes and digests it, and chooses its connection. */

import { originOf } from '@claimcheck/core/hosting'
import { type ActionProfile, type Claim, type Connection, isDestinationError } from '@claimcheck/core/plugin'
import { canonicalize, claimDigest } from '@claimcheck/core/receipts'
import {
  CLOCK_SKEW_MS,
  type Closing,
  freshnessOf,
  type Instant,
  isClockBehind,
  type JsonObject,
  nextCheck,
  type Rules,
  toleranceEnd,
  UNSUPPORTED_DEADLINE_MS,
} from '@claimcheck/core/rules'
import { type Issue, ServiceError } from '../../base/errors.ts'
import { newId } from '../../base/ids.ts'
import { copyJson } from '../../base/json-copy.ts'
import { sha256Text } from '../../base/sha256.ts'
import { validator } from '../../base/validation.ts'
import { type Credential, spenderOf } from '../../http/credential.ts'
import { idProblem } from '../../names/names.ts'
import type { HostedVerifier, Normalizable, Tenant } from '../../plugins/hosted.ts'
import { possibleReaders, type RegisteredVerifier, type Registry } from '../../plugins/registry.ts'
import type { NewClaim } from '../../storage/claim-row.ts'
import { ofOnePlace } from '../workspaces/one-place.ts'
import type { Sources } from '../workspaces/sources.ts'
import type { AheadClocks } from './ahead-clocks.ts'
import { destinationOf, refuseUndeclared, throughConnection } from './destination.ts'
import { profileDigest } from './profile-list.ts'

/** A submitted claim in a valid form, which is not yet validated against its profile. */
export interface ClaimInput {
  readonly clientClaimId: string
  readonly agentId: string
  readonly action: string
  readonly target: string
  readonly params: JsonObject
  readonly claimedAt: Instant
  /** The time by a monotonic clock of the client from the deed to the sending of the request, in milliseconds. */
  readonly claimedAgoMs?: number | undefined
  readonly deadlineAt?: Instant
}

export interface Submitter {
  readonly workspaceId: string
  readonly payer: string
  /** The id of the API key, OAuth grant or person. */
  readonly submittedBy: string
  readonly speaksFor: SpeaksFor
  /** The W3C Trace Context of the request, in a valid form. */
  readonly traceparent?: string | undefined
}

/**
 * The agents for which a submitter may claim: these, which are bound to its key; all that are not bound; or any, in a workspace that had no bound
 * agents.
 */
export type SpeaksFor = readonly string[] | 'unbound' | 'any'

export function submitterOf(credential: Credential): Submitter {
  const { workspaceId, payer } = credential
  return { workspaceId, payer, submittedBy: spenderOf(credential), speaksFor: speaksFor(credential) }
}

/** Finds the agents for which a credential may claim. */
function speaksFor(credential: Credential): SpeaksFor {
  if (credential.kind !== 'key') return 'unbound'
  return credential.agentIds ?? (credential.bindsAgents ? 'unbound' : 'any')
}

export function isBoundTo(speaksFor: SpeaksFor, agentId: string): boolean {
  return typeof speaksFor !== 'string' && speaksFor.includes(agentId)
}

/** The rules for actions that no plugin can check. */
export const UNSUPPORTED_RULES: Rules = { rulesVersion: 1, required: {}, toleranceMs: 0 }
const UNSUPPORTED_MAX_DEADLINE_MS = 24 * 60 * 60_000

interface IntakeOptions {
  readonly registry: Registry
  readonly sources: Pick<Sources, 'isListed'>
  /** Reads the workspace's active connections; not called for actions that use no connection. */
  readonly connections: () => Promise<readonly Connection[]>
  /** The submitters whose clocks are ahead; absent where no claim is stored. */
  readonly aheadClocks?: Pick<AheadClocks, 'has'>
  readonly closing: Closing
}

export interface PlannedClaim {
  readonly claim: NewClaim
  /** Other connections that read the same place, oldest first. One of them is used if the claim's own refuses the target. */
  readonly alike: readonly string[]
}

/**
 * Plans a claim for submission.
 * @throws ServiceError `invalid` with all mistakes
 */
export async function planClaim(
  { workspaceId, payer, submittedBy, speaksFor, traceparent }: Submitter,
  input: ClaimInput,
  now: Instant,
  { registry, sources, connections, aheadClocks, closing }: IntakeOptions,
): Promise<PlannedClaim> {
  const tenant = { workspaceId, payer }
  const registered = registry.verifierFor(input.action)
  const profile = registered?.verifier.profile
  const rules = profile ?? UNSUPPORTED_RULES
  const deadlineAt = input.deadlineAt ?? input.claimedAt + (profile?.deadlineMs ?? UNSUPPORTED_DEADLINE_MS)
  const issues = [
    ...agentIssues(input),
    ...(profile ? profileIssues(profile, input) : []),
    ...timeIssues(profile, input, deadlineAt, now),
  ]
  if (issues.length > 0) throw new ServiceError('invalid', 'the claim is not valid', { issues })

  const own = registered && registered.providers.length > 0 ? await connections() : []
  const { target, params } = await normalized(registered, own, { target: input.target, params: input.params }, tenant)
  const claim: Claim = {
    action: input.action,
    target,
    params,
    claimedAt: input.claimedAt,
    deadlineAt,
    submittedAt: now,
  }
  const { access, connectionId, origin, alike } = registered
    ? await chooseAccess(claim, registered, { registry, sources, tenant }, own)
    : { access: 'unsupported_action' as const, ...NOWHERE }
  const { claimedAt, claimedAgoMs } = input
  const dated = { claimedAt, submittedAt: now, claimedAgoMs }
  const first = freshnessOf(rules, dated)
  // A clock that is ahead counts only where `claimed_at` alone says how long ago the deed was.
  const isClockAhead = first === 'claimed_at' && (await aheadClocks?.has(submittedBy, now)) === true
  const freshBy = isClockAhead ? 'clock_ahead' : first
  const { at: nextCheckAt, momentAt } = nextCheck(rules, { ...claim, submittedAt: now }, [], closing)

  const row: NewClaim = {
    claimId: newId('clm_', now),
    workspaceId,
    payer,
    clientClaimId: input.clientClaimId,
    agentId: input.agentId,
    agentBound: isBoundTo(speaksFor, input.agentId) ? 1 : 0,
    ...claim,
    submittedAt: now,
    claimDigest: claimDigest({ ...claim, clientClaimId: input.clientClaimId }, sha256Text),
    access,
    connectionId,
    origin,
    submittedBy,
    freshBy,
    traceparent: traceparent ?? null,
    profileAction: profile?.action ?? input.action,
    profileVersion: profile?.version ?? '0',
    profileDigest: profile ? profileDigest(profile) : null,
    watched: 0,
    unsigned: 0,
    connectionRemoved: 0,
    state: 'queued',
    attempts: 0,
    dueAt: nextCheckAt,
    nextCheckAt,
    momentAt,
    lastCheck: null,
    receiptId: null,
    logId: null,
    verdict: null,
    reasonCode: null,
  }
  return { claim: row, alike }
}

/**
 * Normalizes a claim. The result is signed, so it has to be valid itself, and to stay as it is when it is normalized again. Of several plugins that
 * read the action, those are asked that may read this claim: a plugin has no say in what is read through another one's connections. Where several
 * may, all have to make the same of it.
 * @throws ServiceError `unavailable` when it is not
 */
async function normalized(
  registered: RegisteredVerifier | undefined,
  connections: readonly Connection[],
  given: Normalizable,
  tenant: Tenant,
): Promise<Normalizable> {
  if (!registered) return given
  const { profile } = registered.verifier
  const readers = possibleReaders(
    registered,
    connections.map(({ provider }) => provider),
  )
  if (readers.every(({ verifier }) => !verifier.normalize)) return given
  try {
    const [first = given, ...others] = await Promise.all(
      readers.map(({ verifier }) => normalizedBy(verifier, given, tenant)),
    )
    if (others.every((other) => isSame(first, other))) return first
    throw new TypeError('the plugins that may read it normalize it differently')
  } catch (cause) {
    throw refusalOf(cause, profile, 'normalize this claim')
  }
}

async function normalizedBy(
  { normalize, profile }: HostedVerifier,
  given: Normalizable,
  tenant: Tenant,
): Promise<Normalizable> {
  if (!normalize) return given
  const once = readNormalized(profile, await normalize(given, tenant))
  const twice = readNormalized(profile, await normalize(once, tenant))
  if (isSame(once, twice)) return once
  throw new TypeError('what it returns changes when it is normalized again')
}

function isSame(one: Normalizable, other: Normalizable): boolean {
  return canonicalize({ ...one }) === canonicalize({ ...other })
}

/**
 * Reads the result of a plugin's normalization.
 * @throws TypeError for one that its own profile would refuse
 */
function readNormalized(profile: ActionProfile, returned: unknown): Normalizable {
  const { target, params } = copyJson(returned as Normalizable)
  const [issue] = profileIssues(profile, { target, params })
  if (issue) throw new TypeError(`${issue.loc.join('.')}: ${issue.msg}`)
  return { target, params }
}

function agentIssues({ agentId }: ClaimInput): Issue[] {
  const problem = idProblem(agentId)
  return problem === undefined ? [] : [valueIssue(['agent_id'], problem)]
}

function profileIssues(profile: ActionProfile, input: Normalizable): Issue[] {
  return [
    ...validator(profile.target)(input.target, ['body', 'target']),
    ...validator(profile.params)(input.params, ['body', 'params']),
  ]
}

function timeIssues(profile: ActionProfile | undefined, input: ClaimInput, deadlineAt: Instant, now: Instant): Issue[] {
  const issues: Issue[] = []
  if (input.claimedAt > now + CLOCK_SKEW_MS) {
    issues.push(valueIssue(['claimed_at'], 'claimed_at is more than 5 minutes in the future'))
  }
  const { claimedAt, claimedAgoMs } = input
  if (profile && isClockBehind(profile, { claimedAt, submittedAt: now, claimedAgoMs })) {
    const problem = 'claimed_at is too long before the time that claimed_ago_ms says: the clock of the client is behind'
    issues.push(valueIssue(['claimed_at'], problem))
  }
  const rules = profile ?? UNSUPPORTED_RULES
  const times = { claimedAt: input.claimedAt, deadlineAt, submittedAt: now }
  if (deadlineAt <= toleranceEnd(rules, times)) {
    const seconds = rules.toleranceMs / 1000
    issues.push(valueIssue(['deadline_at'], `deadline_at must be more than ${seconds} s after claimed_at`))
  }
  const maxDeadlineMs = profile?.maxDeadlineMs ?? UNSUPPORTED_MAX_DEADLINE_MS
  if (deadlineAt > input.claimedAt + maxDeadlineMs) {
    issues.push(valueIssue(['deadline_at'], `deadline_at must be at most ${maxDeadlineMs / 1000} s after claimed_at`))
  }
  return issues
}

function valueIssue(path: readonly string[], message: string): Issue {
  return { loc: ['body', ...path], msg: `Value error, ${message}`, type: 'value_error' }
}

type Resolving = Pick<IntakeOptions, 'registry' | 'sources'> & { readonly tenant: Tenant }

/** Finds the connections through which the claim can be read. */
export async function fittingConnections<C extends Connection>(
  claim: Claim,
  registered: RegisteredVerifier,
  resolving: Resolving,
  connections: readonly C[],
): Promise<C[]> {
  const named = await namedConnections(claim, registered, resolving, connections)
  return readableConnections(claim, registered, resolving, named)
}

/** Returns the fitting connections if the claim reads alike through all of them; undefined where they may show different things. */
export function readingOnePlace<C extends Connection>(
  claim: Claim,
  registered: RegisteredVerifier,
  { registry, tenant }: Resolving,
  fitting: readonly C[],
): Promise<readonly C[] | undefined> {
  return ofOnePlace(fitting, registry, async (connection) => {
    return (await throughConnection(claim, registered, registry, connection, tenant)).baseUrl
  })
}

/** Finds the connections that the claim means, by what their plugin says. */
async function namedConnections<C extends Connection>(
  claim: Claim,
  { providers }: RegisteredVerifier,
  { registry, tenant }: Resolving,
  connections: readonly C[],
): Promise<C[]> {
  return keep(connections, async ({ provider, options }) => {
    const type = providers.includes(provider) ? registry.connectionType(provider) : undefined
    return type !== undefined && (await type.fits(options, claim, tenant)) === true
  })
}

async function readableConnections<C extends Connection>(
  claim: Claim,
  registered: RegisteredVerifier,
  { registry, sources, tenant }: Resolving,
  named: readonly C[],
): Promise<C[]> {
  if (!isAlias(claim, registered)) return [...named]
  return keep(named, async (connection) => {
    const { baseUrl } = await throughConnection(claim, registered, registry, connection, tenant)
    return sources.isListed(connection.provider, baseUrl)
  })
}

/**
 * Tells whether a claim names its action by an alias, which stands for a public destination (`github.commit.push`): an address that a workspace chose
 * does not answer to it.
 */
function isAlias(claim: Claim, { verifier }: RegisteredVerifier): boolean {
  return claim.action !== verifier.profile.action
}

async function keep<T>(items: readonly T[], isKept: (item: T) => Promise<boolean>): Promise<T[]> {
  const kept = await Promise.all(items.map(isKept))
  return items.filter((_, index) => kept[index])
}

/**
 * Chooses how a claim is read.
 * @throws ServiceError
 */
async function chooseAccess(
  claim: Claim,
  registered: RegisteredVerifier,
  resolving: Resolving,
  connections: readonly Connection[],
): Promise<Pick<NewClaim, 'access' | 'connectionId' | 'origin'> & Pick<PlannedClaim, 'alike'>> {
  const { registry, sources, tenant } = resolving
  try {
    const named = connections.length > 0 ? await namedConnections(claim, registered, resolving, connections) : []
    const fitting = named.length > 0 ? await readableConnections(claim, registered, resolving, named) : []
    const same = await readingOnePlace(claim, registered, resolving, fitting)
    if (!same) return { access: 'ambiguous_claim', ...NOWHERE }
    const [first, ...others] = same
    if (first) {
      const through = { access: 'connection', connectionId: first.id, alike: others.map(({ id }) => id) } as const
      const destination = await throughConnection(claim, registered, registry, first, tenant)
      const origin = originOf(destination.baseUrl)
      // A connection without a valid address is kept: its checks fail by themselves.
      if (origin === undefined) return { ...through, origin: null }
      refuseUndeclared(destination, registered, registry, first)
      return { ...through, origin }
    }
    // A workspace that chose where such claims are read is not read anywhere else.
    const isPublic = registered.verifier.profile.access.anonymous && named.length === 0
    const destination = isPublic ? await destinationOf(claim, registered, registry, null, tenant) : undefined
    const isOpen =
      destination && (!isAlias(claim, registered) || sources.isListed(destination.provider, destination.baseUrl))
    if (!isOpen) return { access: 'no_connection', ...NOWHERE }
    refuseUndeclared(destination, registered, registry, null)
    return { ...NOWHERE, access: 'anonymous', origin: originOf(destination.baseUrl) ?? null }
  } catch (error) {
    throw refusalOf(error, registered.verifier.profile, 'say where this claim is read')
  }
}

const NOWHERE = { connectionId: null, origin: null, alike: [] } as const

/** Makes the submitter's error for a claim that a plugin refuses, and for a plugin that fails. */
function refusalOf(error: unknown, { action, params }: ActionProfile, task: string): ServiceError {
  if (error instanceof ServiceError) return error
  if (isDestinationError(error) && error.code === 'unsupported_target') {
    const { param } = error
    // Plugins may say anything: a name that is no param of the action would lead nowhere.
    const { properties = {} } = params as { readonly properties?: object }
    const isParam = typeof param === 'string' && Object.hasOwn(properties, param)
    const loc = isParam ? ['params', param] : ['target']
    const issue = valueIssue(loc, `the plugin that checks this action cannot read such a ${isParam ? param : 'target'}`)
    return new ServiceError('invalid', 'the claim is not valid', { issues: [issue] })
  }
  const detail = `nothing was stored: the plugin that checks ${action} failed to ${task}`
  return new ServiceError('unavailable', detail, { cause: error })
}
