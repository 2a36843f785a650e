/** Makes the row of a submitted claim: validates it against its profile, normalizes and digests it, and chooses its connection. */
import {
  type ActionProfile,
  type AnonymousSource,
  type Claim,
  type Closing,
  type Connection,
  canonicalize,
  claimDigest,
  type Instant,
  type JsonObject,
  nextCheck,
  type Rules,
  toleranceEnd,
  UNSUPPORTED_DEADLINE_MS,
} from '@claimcheck/core'
import { originOf } from '../base/base-address.ts'
import { type Issue, ServiceError } from '../base/errors.ts'
import { newId } from '../base/ids.ts'
import { copyJson } from '../base/json-copy.ts'
import { sha256 } from '../base/sha256.ts'
import { validator } from '../base/validation.ts'
import type { Normalizable } from '../plugins/hosted.ts'
import { type RegisteredVerifier, type Registry, readerOf } from '../plugins/registry.ts'
import type { Access, ClaimRow } from '../storage/claim-row.ts'
import type { Sources } from '../workspaces/sources.ts'

/** A submitted claim in a valid form, which is not yet validated against its profile. */
export interface ClaimInput {
  readonly clientClaimId: string
  readonly agentId: string
  readonly action: string
  readonly target: string
  readonly params: JsonObject
  readonly claimedAt: Instant
  readonly deadlineAt?: Instant
}

/** Who submits a claim. */
export interface Submitter {
  readonly workspaceId: string
  /** The API key, OAuth grant or person. */
  readonly submittedBy: string
}

/** The clock of a client may be this much ahead. */
const CLOCK_SKEW_MS = 5 * 60_000

/** The rules for claims whose action no plugin can check. */
export const UNSUPPORTED_RULES: Rules = { rulesVersion: 2, required: {}, toleranceMs: 0 }
const UNSUPPORTED_MAX_DEADLINE_MS = 24 * 60 * 60_000

interface IntakeOptions {
  readonly registry: Registry
  readonly sources: Pick<Sources, 'isListed'>
  /** Reads the workspace's active connections; not called for actions that use no connection. */
  readonly connections: () => Promise<readonly Connection[]>
  readonly closing: Closing
}

/** @throws ServiceError `invalid` with all mistakes */
export async function planClaim(
  { workspaceId, submittedBy }: Submitter,
  input: ClaimInput,
  now: Instant,
  { registry, sources, connections, closing }: IntakeOptions,
): Promise<ClaimRow> {
  const registered = registry.verifierFor(input.action)
  const profile = registered?.verifier.profile
  const deadlineAt = input.deadlineAt ?? input.claimedAt + (profile?.deadlineMs ?? UNSUPPORTED_DEADLINE_MS)
  const issues = [...(profile ? profileIssues(profile, input) : []), ...timeIssues(profile, input, deadlineAt, now)]
  if (issues.length > 0) throw new ServiceError('invalid', 'the claim is not valid', { issues })

  const { target, params } = await normalized(registered, { target: input.target, params: input.params })
  const claim: Claim = { action: input.action, target, params, claimedAt: input.claimedAt, deadlineAt }
  const { access, connectionId, origin } = registered
    ? await chooseAccess(
        claim,
        registered,
        { registry, sources },
        registered.providers.length > 0 ? await connections() : [],
      )
    : { access: 'unsupported_action' as const, ...NOWHERE }
  const { at: nextCheckAt, momentAt } = nextCheck(
    profile ?? UNSUPPORTED_RULES,
    { ...claim, submittedAt: now },
    [],
    closing,
  )

  return {
    claimId: newId('clm_', now),
    workspaceId,
    clientClaimId: input.clientClaimId,
    agentId: input.agentId,
    ...claim,
    submittedAt: now,
    claimDigest: claimDigest({ ...claim, clientClaimId: input.clientClaimId }, sha256),
    access,
    connectionId,
    origin,
    submittedBy,
    profileAction: profile?.action ?? input.action,
    profileVersion: profile?.version ?? '0',
    state: 'queued',
    attempts: 0,
    dueAt: nextCheckAt,
    nextCheckAt,
    momentAt,
    lastCheck: null,
    receiptId: null,
    verdict: null,
    reasonCode: null,
  }
}

/**
 * The claim in its one form. What a plugin makes of it is signed, so it has to be valid itself, and to stay as it is when it is
 * normalized again.
 * @throws ServiceError `unavailable` when it is not
 */
async function normalized(registered: RegisteredVerifier | undefined, given: Normalizable): Promise<Normalizable> {
  const { normalize, profile } = registered?.verifier ?? {}
  if (!normalize || !profile) return given
  try {
    const once = readNormalized(profile, await normalize(given))
    const twice = readNormalized(profile, await normalize(once))
    if (canonicalize({ ...once }) === canonicalize({ ...twice })) return once
    throw new TypeError('what it returns changes when it is normalized again')
  } catch (cause) {
    const detail = `nothing was stored: the plugin that checks ${profile.action} failed to normalize this claim`
    throw new ServiceError('unavailable', detail, { cause })
  }
}

/** @throws TypeError for what its own profile would refuse */
function readNormalized(profile: ActionProfile, returned: unknown): Normalizable {
  const { target, params } = copyJson(returned as Normalizable)
  const [issue] = profileIssues(profile, { target, params })
  if (issue) throw new TypeError(`${issue.loc.join('.')}: ${issue.msg}`)
  return { target, params }
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
    issues.push(valueIssue('claimed_at', 'claimed_at is more than 5 minutes in the future'))
  }
  const rules = profile ?? UNSUPPORTED_RULES
  const times = { claimedAt: input.claimedAt, deadlineAt, submittedAt: now }
  if (deadlineAt <= toleranceEnd(rules, times)) {
    const seconds = rules.toleranceMs / 1000
    issues.push(valueIssue('deadline_at', `deadline_at must be more than ${seconds} s after claimed_at`))
  }
  const maxDeadlineMs = profile?.maxDeadlineMs ?? UNSUPPORTED_MAX_DEADLINE_MS
  if (deadlineAt > input.claimedAt + maxDeadlineMs) {
    issues.push(valueIssue('deadline_at', `deadline_at must be at most ${maxDeadlineMs / 1000} s after claimed_at`))
  }
  return issues
}

function valueIssue(field: string, message: string): Issue {
  return { loc: ['body', field], msg: `Value error, ${message}`, type: 'value_error' }
}

type Places = Pick<IntakeOptions, 'registry' | 'sources'>

/** Those of the connections through which the claim can be read. */
export async function fittingConnections<C extends Connection>(
  claim: Claim,
  registered: RegisteredVerifier,
  places: Places,
  connections: readonly C[],
): Promise<C[]> {
  const named = await namedConnections(claim, registered, places, connections)
  return readableConnections(claim, registered, places, named)
}

/** Those whose plugin says that the claim means them. */
async function namedConnections<C extends Connection>(
  claim: Claim,
  { providers }: RegisteredVerifier,
  { registry }: Places,
  connections: readonly C[],
): Promise<C[]> {
  return keep(connections, async ({ provider, options }) => {
    const type = providers.includes(provider) ? registry.connectionType(provider) : undefined
    return type !== undefined && (await type.fits(options, claim)) === true
  })
}

async function readableConnections<C extends Connection>(
  claim: Claim,
  registered: RegisteredVerifier,
  { registry, sources }: Places,
  named: readonly C[],
): Promise<C[]> {
  if (!isAlias(claim, registered)) return [...named]
  return keep(named, async ({ provider, options }) =>
    sources.isListed(provider, await registry.connectionType(provider)!.baseUrl(options)),
  )
}

/** An alias names a public place (`github.commit.push`): an address that a workspace chose does not answer to it. */
function isAlias(claim: Claim, { verifier }: RegisteredVerifier): boolean {
  return claim.action !== verifier.profile.action
}

async function keep<T>(items: readonly T[], isKept: (item: T) => Promise<boolean>): Promise<T[]> {
  const kept = await Promise.all(items.map(isKept))
  return items.filter((_, index) => kept[index])
}

/** Where a check of this claim reads, through a connection or without one. Undefined: nowhere without a connection. */
export async function placeOf(
  claim: Claim,
  registered: RegisteredVerifier,
  registry: Pick<Registry, 'connectionType'>,
  connection: Connection | null,
): Promise<AnonymousSource | undefined> {
  const reader = readerOf(registered, connection?.provider ?? null)
  if (!connection) return reader?.verifier.anonymousSource?.(claim)
  const { provider, options } = connection
  const baseUrl = reader?.verifier.destination
    ? await reader.verifier.destination(claim, connection)
    : await registry.connectionType(provider)!.baseUrl(options)
  return { provider, baseUrl }
}

async function chooseAccess(
  claim: Claim,
  registered: RegisteredVerifier,
  places: Places,
  connections: readonly Connection[],
): Promise<{ access: Access; connectionId: string | null; origin: string | null }> {
  const { registry, sources } = places
  const named = await namedConnections(claim, registered, places, connections)
  const fitting = await readableConnections(claim, registered, places, named)
  const [first] = fitting
  if (fitting.length > 1) return { access: 'ambiguous_claim', ...NOWHERE }
  if (first) {
    const place = await placeOf(claim, registered, registry, first)
    // null for a base address that is none: its checks fail by themselves.
    return { access: 'connection', connectionId: first.id, origin: originOf(place!.baseUrl) ?? null }
  }
  // A workspace that chose where such claims are read is not read anywhere else.
  const isPublic = registered.verifier.profile.access.anonymous && named.length === 0
  const place = isPublic ? await placeOf(claim, registered, registry, null) : undefined
  const isOpen = place && (!isAlias(claim, registered) || sources.isListed(place.provider, place.baseUrl))
  if (!isOpen) return { access: 'no_connection', ...NOWHERE }
  return { access: 'anonymous', connectionId: null, origin: originOf(place.baseUrl) ?? null }
}

const NOWHERE = { connectionId: null, origin: null } as const
