/** How often a code host is asked, counted there. */
import { createRequire } from 'node:module'
import { setTimeout } from 'node:timers/promises'
import { startGitHub } from '../../../test/destinations/forge/github.ts'
import { GitServer } from '../../../test/destinations/git-server.ts'
import { connect } from '../../../test/support/connect.ts'
import type { Figure } from '../figure.ts'
import { createWorkspace, withOpened, withPlace } from '../place.ts'
import { withProcess } from '../process.ts'

const CLAIMS = 1_000
const CONNECTIONS = 64
// The stand-in runs git for every request.
const PATIENCE_MS = 300_000
const CODEHOST = { use: createRequire(import.meta.url).resolve('@claimcheck/plugin-codehost') }
const SLUG = 'acme/app'

interface CodeHost {
  readonly url: string
  readonly requests: readonly string[]
  createRepository(slug: string): Promise<{
    commit(options: { readonly parents: readonly string[] }): Promise<string>
    push(branch: string, sha: string): Promise<void>
  }>
  close(): Promise<void>
}

export async function measureRequests(): Promise<Figure[]> {
  const github = await countAt('GitHub', 'github', await startGitHub(), 3)
  const git = await countAt('a git server', 'git', await GitServer.start(), 4)
  return [...github, ...git]
}

async function countAt(name: string, provider: string, host: CodeHost, mostForTip: number): Promise<Figure[]> {
  const repository = await host.createRepository(SLUG)
  const commits: string[] = []
  for (let count = 0; count < CLAIMS; count++) {
    commits.push(await repository.commit({ parents: commits.slice(-1) }))
  }
  await repository.push('main', commits.at(-1)!)
  const counted = await withPlace(
    { plugins: [CODEHOST], env: { ALLOW_PRIVATE: new URL(host.url).host } },
    async (place) => {
      const key = await withOpened(place, async (claimcheck) => {
        const workspace = await createWorkspace(claimcheck)
        await connect(claimcheck, workspace.workspaceId, provider, { base_url: host.url })
        return workspace.key
      })
      return withProcess('host', place, async ({ url }) => {
        const client = createClient(url, key)
        const count = async (shas: readonly string[]) => {
          const before = host.requests.length
          await client.claimAll(shas)
          return host.requests.length - before
        }
        return {
          tip: await count(commits.slice(-1)),
          ancestor: await count(commits.slice(-2, -1)),
          all: await count(commits),
        }
      })
    },
  )
  await host.close()
  const { tip, ancestor, all } = counted
  return [
    {
      name: `requests to ${name} for a branch's tip, verified at the first look`,
      value: tip,
      unit: '',
      bar: { atMost: mostForTip },
    },
    { name: `requests to ${name} for an older commit, verified at the first look`, value: ancestor, unit: '' },
    {
      name: `requests to ${name} a claim, for 1,000 on one branch`,
      value: all / CLAIMS,
      unit: '',
      bar: { atMost: 1.1 },
    },
  ]
}

function createClient(url: string, key: string) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  let claims = 0

  async function submit(sha: string): Promise<void> {
    const body = JSON.stringify({
      client_claim_id: `claim-${++claims}`,
      agent_id: 'bench',
      action: 'codehost.commit.push',
      target: SLUG,
      params: { sha, branch: 'main' },
      claimed_at: new Date().toISOString(),
    })
    const { status } = await fetch(`${url}/v1/claims`, { method: 'POST', headers, body })
    if (status !== 202) throw new Error(`a claim was answered with ${status}`)
  }

  async function count(filter: string): Promise<number> {
    const answer = await fetch(`${url}/v1/claims?limit=200&${filter}`, { headers })
    return ((await answer.json()) as { claims: unknown[] }).claims.length
  }

  return {
    /** Resolves when all of them are decided. */
    async claimAll(shas: readonly string[]): Promise<void> {
      const left = [...shas]
      const submitter = async () => {
        for (let sha = left.pop(); sha !== undefined; sha = left.pop()) await submit(sha)
      }
      await Promise.all(Array.from({ length: CONNECTIONS }, submitter))
      const end = Date.now() + PATIENCE_MS
      while ((await count('state=queued')) > 0) {
        if (Date.now() > end) throw new Error(`${await count('state=queued')} claims or more were left undecided`)
        await setTimeout(200)
      }
      for (const verdict of ['failed', 'mismatch', 'late', 'unverifiable']) {
        if ((await count(`verdict=${verdict}`)) > 0) throw new Error(`a commit that is there is ${verdict}`)
      }
    },
  }
}
