/** Stand-ins for both Bitbuckets with a repository, and checks of claims about it. */
import type { Claim, JsonObject } from '@claimcheck/core/plugin'
import codehost from '@claimcheck/plugin-codehost'
import type { Test } from 'tap'
import { startBitbucket } from '../../../test/destinations/forge/bitbucket.ts'
import { startBitbucketServer } from '../../../test/destinations/forge/bitbucket-server.ts'
import type { StandIn } from '../../../test/destinations/forge/stand-in.ts'
import { type ContextOptions, check, createContext, logger } from './context.ts'

export const NOON = Date.UTC(2026, 8, 25, 12)
export const MINUTE = 60_000
export const DAY = 24 * 60 * MINUTE
const TOKEN = 'bitbucket-token-0123456789'

const { verifiers = [] } = await codehost.setup({ logger }, {})

export interface LookOptions extends ContextOptions {
  readonly target?: string
  readonly claimedAt?: number
}

export async function atBitbucket(t: Test) {
  const clock = { now: NOON - DAY }
  const standIn = await startBitbucket({ now: () => clock.now })
  return world(t, 'bitbucket', clock, standIn, { base_url: standIn.url })
}

/** @param given older servers have no merge base; some have a context path */
export async function atBitbucketServer(
  t: Test,
  given: { readonly hasMergeBase?: boolean; readonly prefix?: string } = {},
) {
  const clock = { now: NOON - DAY }
  const standIn = await startBitbucketServer({ now: () => clock.now, ...given })
  return world(t, 'bitbucket-server', clock, standIn, { base_url: standIn.origin })
}

/** A repository whose main branch has two commits since the day before noon, `first` and `base`, and a topic with a third. */
async function world(t: Test, provider: string, clock: { now: number }, standIn: StandIn, options: JsonObject) {
  t.teardown(() => standIn.close())
  const repository = await standIn.createRepository('acme/app', { isPrivate: true })
  const first = await repository.commit()
  const base = await repository.commit({ parents: [first] })
  await repository.push('main', base)
  const head = await repository.commit({ parents: [base] })
  await repository.push('topic', head)
  standIn.addToken({ token: TOKEN, repositories: [repository] })
  clock.now = NOON
  const connection = { id: 'conn_1', provider, options: { token: TOKEN, ...options } }

  /** Checks a claim of noon. */
  function look(
    action: string,
    params: JsonObject,
    { target = 'acme/app', claimedAt = NOON, ...more }: LookOptions = {},
  ) {
    const verifier = verifiers.find(({ profile }) => profile.action === action)!
    const claim: Claim = {
      action,
      target,
      params,
      claimedAt,
      deadlineAt: claimedAt + 15 * MINUTE,
      submittedAt: claimedAt,
    }
    return check(verifier, claim, createContext({ now: () => clock.now, connection, ...more }))
  }

  return {
    clock,
    standIn,
    repository,
    first,
    base,
    head,
    connection,
    lookAtPush: (sha: string, options: LookOptions & { readonly branch?: string } = {}) =>
      look('codehost.commit.push', { sha, branch: options.branch ?? 'main' }, options),
    lookAtOpen: (params: JsonObject, options?: LookOptions) => look('codehost.pull_request.open', params, options),
    lookAtMerge: (params: JsonObject, options?: LookOptions) => look('codehost.pull_request.merge', params, options),
    lookAtChecks: (params: JsonObject, options?: LookOptions) => look('codehost.checks.pass', params, options),
    /** How many requests something costs. */
    async requestsOf(work: () => Promise<unknown>): Promise<number> {
      const before = standIn.requests.length
      await work()
      return standIn.requests.length - before
    },
  }
}
