/** A stand-in for GitHub with a repository, and checks of claims about its pull requests, checks, releases and issues. */
import type { JsonObject, Observation, PreviousRead } from '@claimcheck/core/plugin'
import codehost from '@claimcheck/plugin-codehost'
import type { Test } from 'tap'
import { startGitHub } from '../../../test/destinations/forge/github.ts'
import type { Token } from '../../../test/destinations/forge/stand-in.ts'
import { type ContextOptions, check, createContext, logger } from './context.ts'

export const NOON = Date.UTC(2026, 8, 25, 12)
export const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
export const wholeSecond = (at: number) => ({ notBefore: at, notAfter: at + 999 })

export interface LookOptions extends Omit<ContextOptions, 'previous'> {
  readonly target?: string
  /** From the claim, at noon, to this look; a second, when left out. */
  readonly afterMs?: number
  /** What an earlier look saw, a second after the claim. */
  readonly earlier?: Observation
  /** The token of a connection; without one the public GitHub is read. */
  readonly token?: string
}

/** A repository whose main branch has two commits since 11:00, `first` and `base`, and a clock that stands at noon. */
export async function atGitHub(t: Test, { isPrivate = false } = {}) {
  const clock = { now: NOON - 60 * MINUTE }
  const github = await startGitHub({ now: () => clock.now })
  t.teardown(() => github.close())
  const repository = await github.createRepository('acme/app', { isPrivate })
  const date = new Date(clock.now)
  const first = await repository.commit({ date })
  const base = await repository.commit({ parents: [first], date })
  await repository.push('main', base)
  const head = await repository.commit({ parents: [base] })
  await repository.push('topic', head)
  clock.now = NOON
  const { verifiers = [] } = await codehost.setup({ logger }, { public_base_url: github.url })

  /** A claim that was made at noon. */
  function look(action: string, params: JsonObject, options: LookOptions = {}): Promise<Observation> {
    const { target = 'acme/app', afterMs = 1000, earlier, token, ...rest } = options
    clock.now = NOON + afterMs
    const verifier = verifiers.find(({ profile }) => profile.action === `codehost.${action}`)!
    const claim = { action: `codehost.${action}`, target, params, claimedAt: NOON }
    const previous: PreviousRead[] = earlier ? [{ sentAt: NOON + 1000, observation: earlier }] : []
    const connection =
      token === undefined ? null : { id: 'conn_1', provider: 'github', options: { token, base_url: github.url } }
    const context = createContext({ now: () => clock.now, previous, connection, ...rest })
    return check(verifier, { ...claim, deadlineAt: NOON + verifier.profile.deadlineMs, submittedAt: NOON }, context)
  }

  /** A token that shows the repository. */
  function token(rights?: Token['rights']): string {
    const token = `token-with-${rights?.join('-') ?? 'all'}`
    github.addToken({ token, repositories: [repository], ...(rights ? { rights } : {}) })
    return token
  }

  /** How many requests it takes. */
  async function costOf(looking: () => Promise<Observation>): Promise<number> {
    const before = github.requests.length
    await looking()
    return github.requests.length - before
  }

  /** What ran on the main branch on the day before. */
  function past(name = 'build', workflow = '.github/workflows/ci.yml'): void {
    repository.checks.run({ sha: first, name, workflow, branch: 'main', by: 'maintainer', at: NOON - DAY })
  }

  return { clock, github, repository, first, base, head, look, token, costOf, past }
}
