/** A stand-in for GitLab with a project in nested groups, and checks of claims about it. */
import type { JsonObject, Observation } from '@claimcheck/core/plugin'
import codehost from '@claimcheck/plugin-codehost'
import type { Test } from 'tap'
import { gitlabKind } from '../../../test/destinations/forge/gitlab.ts'
import { settingsOf } from '../../../test/destinations/forge/gitlab-answers.ts'
import type { ForgeRepositoryOptions } from '../../../test/destinations/forge/model.ts'
import { StandIn } from '../../../test/destinations/forge/stand-in.ts'
import { type ContextOptions, createContext, logger } from './context.ts'

export const NOON = Date.UTC(2026, 8, 25, 12)
export const MINUTE = 60_000
export const TOKEN = 'glpat-reader-0123456789'
const SLUG = 'acme/tools/app'
const DAY = 24 * 60 * MINUTE

const { verifiers = [] } = await codehost.setup({ logger }, {})

export function verifierOf(action: string) {
  return verifiers.find(({ profile }) => profile.action === action)!
}

export interface LookOptions extends ContextOptions {
  readonly target?: string
  /** By the clock; ten minutes after noon when it is earlier. */
  readonly at?: number
  readonly claimedAt?: number
  readonly options?: JsonObject
}

/** A project whose main branch has two commits since 11:00, `first` and `base`, and a clock that the test sets. */
export async function atGitLab(t: Test, given: ForgeRepositoryOptions & { readonly prefix?: string } = {}) {
  const clock = { now: NOON - 60 * MINUTE }
  const { prefix, ...options } = given
  const gitlab = await StandIn.start(gitlabKind, { now: () => clock.now, ...(prefix === undefined ? {} : { prefix }) })
  t.teardown(() => gitlab.close())
  const repository = await gitlab.createRepository(SLUG, { createdAt: NOON - 30 * DAY, isPrivate: true, ...options })
  gitlab.addToken({ token: TOKEN, repositories: [repository] })
  const first = await repository.commit()
  const base = await repository.commit({ parents: [first] })
  await repository.push('main', base)
  clock.now = NOON

  async function push(branch: string, sha: string, at: number, given: { force?: boolean } = {}) {
    clock.now = at
    await repository.push(branch, sha, given)
  }

  const connect = (options: JsonObject = {}) => ({
    id: 'conn_1',
    provider: 'gitlab',
    options: { token: TOKEN, base_url: gitlab.origin, ...options },
  })

  /** Checks a claim that was made at noon. */
  async function look(action: string, params: JsonObject, given: LookOptions = {}): Promise<Observation> {
    const { target = repository.slug, at = NOON + 10 * MINUTE, claimedAt = NOON, options, ...context } = given
    clock.now = Math.max(clock.now, at)
    const claim = { action, target, params, claimedAt, deadlineAt: claimedAt + 15 * MINUTE, submittedAt: claimedAt }
    const connection = connect(options)
    return verifierOf(action).check(claim, createContext({ now: () => clock.now, connection, ...context })) as never
  }

  /** The requests of a check, by the last parts of their paths. */
  async function requestsOf(work: () => Promise<unknown>): Promise<string[]> {
    const before = gitlab.requests.length
    await work()
    return gitlab.requests.slice(before).map((line) => line.replace(/^GET .*\/api\/v4\/projects\/[^/?]+/, ''))
  }

  return { clock, gitlab, repository, settings: settingsOf(repository), base, first, push, connect, look, requestsOf }
}

export type AtGitLab = Awaited<ReturnType<typeof atGitLab>>
