// Test run: end-to-end, slow
/**
 * The plugin passes the conformance kit at a git server, but for what the git program keeps to itself. The program sends requests of its
 * own, which meet the kit's faults by the address that the connection has.
 */
import { runConformance } from '@claimcheck/core/testkit'
import codehost from '@claimcheck/plugin-codehost'
import t from 'tap'
import { GitServer } from '../../../test/destinations/git-server.ts'
import { temporaryFolder } from './git-fixture.ts'
import { MINUTE, NOON } from './github-fixture.ts'
import { passesButForGit } from './situations.ts'

t.setTimeout(500_000)

const credentials = { username: 'reader', password: 'a-password-that-is-long' }

interface Commits {
  readonly sha: string
}

t.test('at a git server', async (t) => {
  await temporaryFolder(t)
  let server: GitServer
  let repository: Awaited<ReturnType<GitServer['createRepository']>>
  let [sha, base] = ['', '']
  const claim = ({ sha }: Commits) => ({ target: 'acme/app', params: { sha, branch: 'main' }, claimedAt: NOON })
  const { checks, untested } = await runConformance<'pushed' | 'not pushed', Commits>({
    plugin: codehost,
    connection: (url) => ({ provider: 'git', options: { base_url: url, ...credentials }, target: 'acme/app' }),
    destination: {
      async start({ now }) {
        server = await GitServer.start(0, now)
        repository = await server.createRepository('acme/app', { credentials })
        const dated = (minutes: number, ...parents: string[]) =>
          repository.commit({ parents, date: new Date(NOON - minutes * MINUTE) })
        base = await dated(50, await dated(60))
        sha = await dated(40, base)
        await repository.push('main', base)
        return { url: server.url, stop: () => server.close() }
      },
      async set(situation) {
        await repository.push('main', situation === 'pushed' ? sha : base)
        return { sha }
      },
    },
    before: 'not pushed',
    cases: [
      { name: 'pushed', situation: 'pushed', claim, sees: { kind: 'present' }, verdict: 'verified' },
      {
        name: 'known to the server, and on no branch',
        situation: 'not pushed',
        claim,
        sees: { kind: 'absent', mark: 'may_have_been' },
        verdict: 'unverifiable',
      },
    ],
  })
  passesButForGit(t, { checks }, true)
  t.match(untested, [/^absence\.hides-permission/])
})
