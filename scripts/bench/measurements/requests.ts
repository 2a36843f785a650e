/** Counts at destinations how often they are asked. */
import { createRequire } from 'node:module'
import { setTimeout } from 'node:timers/promises'
import { startGitHub } from '../../../test/destinations/forge/github.ts'
import { GitServer } from '../../../test/destinations/git-server.ts'
import { PypiStandIn } from '../../../test/destinations/pypi.ts'
import { connect } from '../../../test/support/connect.ts'
import { GITHUB } from '../../../test/traps/lives/forges.ts'
import { stopAt } from '../../tour/code-hosts.ts'
import type { Stop, TourClaim } from '../../tour/stop.ts'
import { withHost } from '../claims.ts'
import { type Figure, figure } from '../figure.ts'
import type { InstallationOptions } from '../installation.ts'

const CLAIMS = 1_000
const CONNECTIONS = 64
// The stand-in runs git for every request.
const PATIENCE_MS = 300_000
const { resolve } = createRequire(import.meta.url)
const CODEHOST = { use: resolve('@claimcheck/plugin-codehost') }
const SLUG = 'acme/app'
const ACTIONS = ['pull_request.open', 'pull_request.merge', 'checks.pass', 'release.publish', 'issue.close']
const MOST_A_CLAIM = { atMost: 1.1 }

interface CodeHost {
  readonly url: string
  readonly requests: readonly string[]
  createRepository(slug: string): Promise<{
    commit(options: { readonly parents: readonly string[] }): Promise<string>
    push(branch: string, sha: string): Promise<void>
  }>
  close(): Promise<void>
}

/** All at once: how often a destination is asked is not to depend on how busy the machine is. */
export async function measureRequests(): Promise<Figure[]> {
  const atGitHub = ACTIONS.map((action) => countShared(() => stopAt(GITHUB), `codehost.${action}`))
  const figures = await Promise.all([
    startGitHub().then((host) => countAt('GitHub', 'github', host, 3)),
    GitServer.start().then((host) => countAt('a git server', 'git', host, 4)),
    ...atGitHub,
    countShared(pypiStop, 'registry.package.publish'),
  ])
  return figures.flat()
}

/** Many claims about one and the same thing. */
async function countShared(start: () => Promise<Stop>, action: string): Promise<Figure[]> {
  const {
    claims,
    requests = [],
    plugin = '@claimcheck/plugin-codehost',
    allowPrivate,
    connect: how,
    close,
  } = await start()
  const claim = claims.find((one) => one.action === action)!
  const [provider, , ...options] = how!
  const settings = Object.fromEntries(options.map((option) => option.split(/=(.*)/s, 2)))
  const installation = { plugins: [{ use: resolve(plugin) }], env: { ALLOW_PRIVATE: allowPrivate } }
  await withConnection(installation, provider!, settings, (client) =>
    client.claimAll(Array.from({ length: CLAIMS }, () => claim)),
  )
  await close()
  const value = requests.length / CLAIMS
  return [{ name: `requests a claim, for 1,000 of one ${action}`, value, unit: '', bar: MOST_A_CLAIM }]
}

async function pypiStop(): Promise<Stop> {
  const pypi = await PypiStandIn.start()
  pypi.upload('tour', '1.0.0')
  return {
    place: 'PyPI, by a stand-in',
    plugin: '@claimcheck/plugin-registry',
    allowPrivate: new URL(pypi.url).host,
    connect: ['pypi', '--set', `base_url=${pypi.url}`],
    claims: [{ action: 'registry.package.publish', target: 'pypi:tour', params: { version: '1.0.0' } }],
    requests: pypi.requests,
    close: () => pypi.close(),
  }
}

/** @param how the settings of a connection */
function withConnection<T>(
  options: InstallationOptions,
  provider: string,
  how: Readonly<Record<string, string>>,
  work: (client: ReturnType<typeof createClient>) => Promise<T>,
): Promise<T> {
  return withHost(
    options,
    ({ target: { url, key } }) => work(createClient(url, key)),
    (claimcheck, workspaceId) => connect(claimcheck, workspaceId, provider, how),
  )
}

async function countAt(name: string, provider: string, host: CodeHost, mostForTip: number): Promise<Figure[]> {
  const repository = await host.createRepository(SLUG)
  const commits: string[] = []
  for (let count = 0; count < CLAIMS; count++) {
    commits.push(await repository.commit({ parents: commits.slice(-1) }))
  }
  await repository.push('main', commits.at(-1)!)
  const installation = { plugins: [CODEHOST], env: { ALLOW_PRIVATE: new URL(host.url).host } }
  const counted = await withConnection(installation, provider, { base_url: host.url }, async (client) => {
    const count = async (shas: readonly string[]) => {
      const before = host.requests.length
      await client.claimAll(shas.map(pushOf))
      return host.requests.length - before
    }
    return {
      tip: await count(commits.slice(-1)),
      ancestor: await count(commits.slice(-2, -1)),
      all: await count(commits),
    }
  })
  await host.close()
  const { tip, ancestor, all } = counted
  return [
    figure(`requests to ${name} for a branch's tip, verified at the first look`, tip, '', { atMost: mostForTip }),
    { name: `requests to ${name} for an older commit, verified at the first look`, value: ancestor, unit: '' },
    figure(`requests to ${name} a claim, for 1,000 on one branch`, all / CLAIMS, '', MOST_A_CLAIM),
  ]
}

function pushOf(sha: string): TourClaim {
  return { action: 'codehost.commit.push', target: SLUG, params: { sha, branch: 'main' } }
}

function createClient(url: string, key: string) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  let claims = 0

  async function submit(claim: TourClaim): Promise<void> {
    const client_claim_id = `claim-${++claims}`
    const claimed_at = new Date().toISOString()
    const body = JSON.stringify({ client_claim_id, agent_id: 'bench', ...claim, claimed_at })
    const { status } = await fetch(`${url}/v1/claims`, { method: 'POST', headers, body })
    if (status !== 202) throw new Error(`a claim was answered with ${status}`)
  }

  async function count(filter: string): Promise<number> {
    const answer = await fetch(`${url}/v1/claims?limit=200&${filter}`, { headers })
    return ((await answer.json()) as { claims: unknown[] }).claims.length
  }

  return {
    /** Resolves when all of them are decided. */
    async claimAll(all: readonly TourClaim[]): Promise<void> {
      const left = [...all]
      const submitter = async () => {
        for (let claim = left.pop(); claim !== undefined; claim = left.pop()) await submit(claim)
      }
      await Promise.all(Array.from({ length: CONNECTIONS }, submitter))
      const end = Date.now() + PATIENCE_MS
      while ((await count('state=queued')) > 0) {
        if (Date.now() > end) throw new Error(`${await count('state=queued')} claims or more were left undecided`)
        await setTimeout(200)
      }
      for (const verdict of ['failed', 'mismatch', 'late', 'unverifiable']) {
        if ((await count(`verdict=${verdict}`)) > 0) throw new Error(`what is there is ${verdict}`)
      }
    },
  }
}
