/** A stand-in for GitHub with a repository, and checks of claims about it. */
import type { JsonObject, Observation } from '@claimcheck/core/plugin'
import type { Test } from 'tap'
import { startGitHub } from '../../../test/destinations/forge/github.ts'
import { claimOf } from './claim.ts'
import { type ContextOptions, check, createContext, setUp } from './context.ts'

export const NOON = Date.UTC(2026, 8, 25, 12)
export const MINUTE = 60_000

/** A repository whose main branch has two commits since 11:00, `first` and `base`, and a clock that the test sets. */
export async function atGitHub(t: Test) {
  const clock = { now: NOON - 60 * MINUTE }
  const github = await startGitHub({ now: () => clock.now })
  const repository = await github.createRepository('acme/app')
  const first = await repository.commit()
  const base = await repository.commit({ parents: [first] })
  await repository.push('main', base)
  clock.now = NOON
  const { verifier } = await setUp({ public_base_url: github.url })
  t.teardown(() => github.close())

  async function push(branch: string, sha: string, at: number, options: { force?: boolean } = {}) {
    clock.now = at
    await repository.push(branch, sha, options)
  }

  /** Checks a claim about the commit that was made at noon, ten minutes later. */
  function look(sha: string, { branch = 'main', target = 'acme/app', pusher, ...options }: LookOptions = {}) {
    clock.now = Math.max(clock.now, NOON + 10 * MINUTE)
    const named = pusher === undefined ? {} : { pusher }
    const claim = claimOf({ sha, branch, target, claimedAt: NOON, ...named })
    return check(verifier, claim, createContext({ now: () => clock.now, ...options }))
  }

  const connect = (token: string, options: JsonObject = {}) => ({
    id: 'conn_1',
    provider: 'github',
    options: { token, base_url: github.url, ...options },
  })
  return { clock, github, repository, base, first, push, look, connect, verifier }
}

export interface LookOptions extends ContextOptions {
  readonly branch?: string
  readonly target?: string
  readonly pusher?: string
}

/** Of the oldest stay; `null` when no log shows any. */
export const appearedAt = ({ stays = [] }: Observation) => stays.at(-1)?.appeared ?? null
export const wholeSecond = (at: number) => ({ notBefore: at, notAfter: at + 999 })
