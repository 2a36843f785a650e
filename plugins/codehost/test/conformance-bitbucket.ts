/** What the conformance kit needs of both Bitbuckets: stand-ins in three situations, behind one address, and the rows of claims. */
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Case, Destination } from '@claimcheck/core/testkit'
import type { StandIn, StandInOptions } from '../../../test/destinations/forge/stand-in.ts'
import { MINUTE, NOON } from './bitbucket-fixture.ts'

export const TOKEN = 'bitbucket-token-0123456789-reading'
export const LIMITED_TOKEN = 'bitbucket-token-0123456789-limited'

const SITUATIONS = ['nothing', 'pushed', 'merged'] as const
export type Situation = (typeof SITUATIONS)[number]
export interface Ids {
  readonly sha: string
}

/** In each there is pull request 1, from `topic`, whose one commit is `sha`. */
export function inSituations(start: (options: StandInOptions) => Promise<StandIn>): Destination<Situation, Ids> {
  const standIns = new Map<Situation, StandIn>()
  let current: StandIn
  let sha: string

  async function build(situation: Situation, now: () => number): Promise<StandIn> {
    let built: number | undefined = NOON - 60 * MINUTE
    const standIn = await start({ now: () => built ?? now() })
    const repository = await standIn.createRepository('acme/app', { isPrivate: true })
    const commit = (message: string, ...parents: string[]) =>
      repository.commit({ message, parents, date: new Date(NOON - 60 * MINUTE) })
    const base = await commit('Second', await commit('First'))
    sha = await commit('Third', base)
    await repository.push('main', base)
    if (situation !== 'nothing') {
      await repository.push('topic', sha)
      await repository.pullRequests.open({ head: 'topic' })
    }
    built = NOON + MINUTE
    if (situation === 'pushed') await repository.push('main', await commit('Fourth', sha))
    if (situation === 'merged') await repository.pullRequests.merge(1, { how: 'squash' })
    standIn.addToken({ token: TOKEN, repositories: [repository] })
    standIn.addToken({ token: LIMITED_TOKEN, repositories: [] })
    built = undefined
    return standIn
  }

  return {
    async start({ now }) {
      for (const situation of SITUATIONS) standIns.set(situation, await build(situation, now))
      current = standIns.get('nothing')!
      const front = createServer((asked, answer) => {
        const { method, url, headers } = asked
        const passed = request(new URL(url!, current.origin), { method, headers, agent: false }, (response) => {
          answer.writeHead(response.statusCode!, response.headers)
          response.pipe(answer)
        })
        passed.on('error', () => answer.destroy())
        asked.pipe(passed)
      }).listen(0, '127.0.0.1')
      await once(front, 'listening')
      return {
        url: `http://127.0.0.1:${(front.address() as AddressInfo).port}`,
        async stop() {
          front.closeAllConnections()
          front.close()
          for (const standIn of standIns.values()) await standIn.close()
        },
      }
    },
    set(situation) {
      current = standIns.get(situation)!
      return { sha }
    },
  }
}

type Routes = Pick<Case, 'absentRoutes' | 'extraRoutes'>

/** @param neverOpened what a check sees of a pull request that is missing, which only one of them can tell from a deleted one */
export function casesOf(
  push: Routes,
  merge: Routes,
  neverOpened: Pick<Case<Situation, Ids>, 'sees' | 'verdict'>,
): Case<Situation, Ids>[] {
  const pushed = {
    claim: ({ sha }: Ids) => ({
      action: 'codehost.commit.push',
      target: 'acme/app',
      params: { sha, branch: 'main' },
      claimedAt: NOON,
    }),
    ...push,
    submittedAfterMs: 2 * MINUTE,
  }
  const merged = {
    claim: ({ sha }: Ids) => ({
      action: 'codehost.pull_request.merge',
      target: 'acme/app',
      params: { number: 1, head_sha: sha },
      claimedAt: NOON,
    }),
    ...merge,
    submittedAfterMs: 2 * MINUTE,
  }
  return [
    {
      ...pushed,
      name: 'pushed in time',
      situation: 'pushed',
      sees: { kind: 'present', facts: { branch_listed: true } },
      verdict: 'verified',
    },
    {
      ...pushed,
      name: 'never pushed',
      situation: 'nothing',
      sees: { kind: 'absent', mark: 'never_before' },
      verdict: 'failed',
    },
    {
      ...merged,
      name: 'merged in time',
      situation: 'merged',
      sees: { kind: 'present', facts: { state: 'merged', merge_commit_on_base: true } },
      verdict: 'verified',
    },
    { ...merged, name: 'never opened', situation: 'nothing', ...neverOpened },
  ]
}
