/** A stand-in for Gitea or Forgejo with a repository, and checks of claims about it. */
import type { JsonObject, Observation, Verifier } from '@claimcheck/core/plugin'
import codehost from '@claimcheck/plugin-codehost'
import t, { type Test } from 'tap'
import { startGitea, waysOf } from '../../../test/destinations/forge/gitea.ts'
import type { GiteaWays } from '../../../test/destinations/forge/gitea-answers.ts'
import type { StandInOptions } from '../../../test/destinations/forge/stand-in.ts'
import { type ContextOptions, check, createContext, logger } from './context.ts'

export const NOON = Date.UTC(2026, 8, 25, 12)
export const MINUTE = 60_000
export const HOUR = 60 * MINUTE

const { verifiers = [], close } = await codehost.setup({ logger }, {})
t.teardown(() => close?.())

function verifierOf(action: string): Verifier {
  return verifiers.find(({ profile }) => profile.action === action)!
}

interface LookOptions extends ContextOptions {
  readonly target?: string
  readonly claimedAt?: number
}

/** A repository whose main branch has two commits since eleven, `first` and `base`, and a clock that the test sets: noon. */
export async function atGitea(
  t: Test,
  { flavour = 'gitea', ...options }: StandInOptions & { readonly flavour?: GiteaWays['flavour'] } = {},
) {
  const clock = { now: NOON - HOUR }
  const host = await startGitea({ now: () => clock.now, ...options }, flavour)
  t.teardown(() => host.close())
  const repository = await host.createRepository('acme/app')
  const first = await repository.commit()
  const base = await repository.commit({ parents: [first] })
  await repository.push('main', base)
  clock.now = NOON

  const connect = (token?: string, more: JsonObject = {}) => ({
    id: `conn_${token ?? 1}`,
    provider: 'gitea',
    options: { base_url: host.origin, ...(token === undefined ? {} : { token }), ...more },
  })

  /** Checks a claim that was made at noon. */
  async function look(
    action: string,
    params: JsonObject,
    { target = 'acme/app', claimedAt = NOON, ...more }: LookOptions = {},
  ): Promise<Observation> {
    const claim = { action, target, params, claimedAt, deadlineAt: claimedAt + 15 * MINUTE, submittedAt: claimedAt }
    const context = createContext({ connection: connect(), now: () => clock.now, ...more })
    return check(verifierOf(action), claim, context)
  }

  /** Of a commit. */
  const find = (
    sha: string,
    { branch = 'main', pusher, ...more }: LookOptions & { branch?: string; pusher?: string } = {},
  ) => look('codehost.commit.push', { sha, branch, ...(pusher === undefined ? {} : { pusher }) }, more)

  /** The requests of one piece of work, without the prefix. */
  async function requests(work: () => Promise<unknown>): Promise<string[]> {
    const before = host.requests.length
    await work()
    return host.requests.slice(before).map((line) => line.replace(/\/api\/v1\/repos\/acme\/app/, ''))
  }

  return { clock, host, ways: waysOf(host), repository, first, base, connect, look, find, requests }
}
