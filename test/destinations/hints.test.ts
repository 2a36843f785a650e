// Test run: end-to-end, slow
/**
 * Hints of every code host, in the form that it sends: how soon after the event a verdict comes, and by how many requests, beside a claim of which
 * nobody tells.
 */
import { createHmac } from 'node:crypto'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { byCommand } from '@claimcheck/server/base/actor'
import t from 'tap'
import { afterFile } from '../support/after-file.ts'
import { connect } from '../support/connect.ts'
import { type Client, Installation } from '../support/installation.ts'
import { SkippingClock } from '../support/skipping-clock.ts'
import { BITBUCKET, BITBUCKET_SERVER, FORGEJO, type Forge, GITEA, GITHUB, GITLAB } from '../traps/lives/forges.ts'
import type { ForgeRepository } from './forge/model.ts'
import type { StandIn } from './forge/stand-in.ts'

const CODEHOST = createRequire(join(process.cwd(), 'package.json')).resolve('@claimcheck/plugin-codehost')
const TOKEN = 'token-of-the-reader'
const MINUTE_MS = 60_000
const FORGES = [GITHUB, GITLAB, GITEA, FORGEJO, BITBUCKET, BITBUCKET_SERVER]

const clock = new SkippingClock()
const standIns = new Map<Forge, StandIn>()
for (const forge of FORGES) {
  const standIn = await forge.start({ now: clock.now })
  standIn.addToken({ token: TOKEN })
  standIns.set(forge, standIn)
}
const installation = await Installation.start({
  plugins: [{ use: CODEHOST }],
  env: { ALLOW_PRIVATE: '127.0.0.1' },
  now: clock.now,
})
const stopSkipping = clock.skip(installation.claimcheck)
afterFile(async () => {
  await stopSkipping()
  await installation.examine({ isWhole: false })
  await installation.remove()
  for (const standIn of standIns.values()) await standIn.close()
})

interface Ground {
  readonly forge: Forge
  readonly client: Client
  readonly slug: string
  readonly repository: ForgeRepository
  readonly base: string
  readonly head: string
}

interface Deed {
  readonly action: string
  readonly where?: (forge: Forge) => boolean
  readonly prepare?: (ground: Ground) => Promise<unknown>
  readonly params: (ground: Ground) => object
  readonly act: (ground: Ground) => unknown
  /** The members of a message beside the repository. */
  readonly said: (ground: Ground) => object
}

const runs = new Map<Ground, number>()
const DEEDS: readonly Deed[] = [
  {
    action: 'commit.push',
    params: ({ head }) => ({ sha: head, branch: 'main' }),
    act: ({ repository, head }) => repository.push('main', head),
    said: ({ head }) => ({ ref: 'refs/heads/main', after: head, push: { changes: [] } }),
  },
  {
    action: 'checks.pass',
    where: ({ runBy }) => runBy !== undefined,
    prepare: async (ground) => {
      const { repository, base: sha } = ground
      const id = repository.checks.queue({ sha, name: 'build', workflow: '.github/workflows/ci.yml' })
      repository.checks.start(id)
      runs.set(ground, id)
    },
    params: ({ forge, base }) => ({ sha: base, checks: [{ name: forge.buildName, by: forge.runBy }] }),
    act: (ground) => ground.repository.checks.end(runs.get(ground)!, 'success'),
    said: ({ forge, base: sha }) =>
      ({
        [GITHUB.name]: { check_suite: { head_sha: sha, status: 'completed' } },
        [GITLAB.name]: { object_attributes: { sha, status: 'success' } },
        [BITBUCKET.name]: { commit_status: { state: 'SUCCESSFUL' } },
      })[forge.name] ?? { workflow_run: { head_sha: sha, status: 'completed' } },
  },
  {
    action: 'pull_request.merge',
    prepare: async ({ repository, head }) => {
      await repository.push('topic', head)
      await repository.pullRequests.open({ head: 'topic' })
    },
    params: () => ({ number: 1 }),
    act: ({ repository }) => repository.pullRequests.merge(1),
    said: () => ({
      pull_request: { number: 1 },
      pullrequest: { id: 1 },
      object_attributes: { iid: 1, state: 'merged' },
      pullRequest: { id: 1 },
    }),
  },
  {
    action: 'release.publish',
    where: ({ hasReleases }) => hasReleases,
    params: () => ({ tag: 'v1.0.0' }),
    act: ({ repository }) => repository.releases.create({ tag: 'v1.0.0' }),
    said: ({ forge }) => (forge === GITLAB ? { tag: 'v1.0.0' } : { release: { tag_name: 'v1.0.0' } }),
  },
]

let grounds = 0
async function newGround(forge: Forge, client: Client, { prepare }: Deed): Promise<Ground> {
  const slug = `acme/app-${++grounds}`
  const repository = await standIns
    .get(forge)!
    .createRepository(slug, { createdAt: clock.now() - 30 * 24 * 60 * MINUTE_MS })
  const date = new Date(clock.now() - 60 * MINUTE_MS)
  const base = await repository.commit({ date })
  await repository.push('main', base, { at: date.getTime() })
  const head = await repository.commit({ parents: [base], message: 'Work' })
  const ground = { forge, client, slug, repository, base, head }
  await prepare?.(ground)
  return ground
}

function repositoryOf({ forge, slug }: Ground): object {
  const [key, name] = slug.split('/')
  if (forge === GITLAB) return { project: { path_with_namespace: slug } }
  if (forge === BITBUCKET_SERVER) return { repository: { slug: name, project: { key: key!.toUpperCase() } } }
  return { repository: { full_name: slug } }
}

function proofOf({ name }: Forge, secret: string, body: string): Record<string, string> {
  const mac = createHmac('sha256', secret).update(body).digest('hex')
  switch (name) {
    case 'github':
      return { 'x-hub-signature-256': `sha256=${mac}` }
    case 'gitlab':
      return { 'x-gitlab-token': secret }
    case 'gitea':
      return { 'x-gitea-signature': mac }
    case 'forgejo':
      return { 'x-forgejo-signature': mac, 'x-gitea-signature': mac }
    default:
      return { 'x-hub-signature': `sha256=${mac}` }
  }
}

for (const forge of FORGES) {
  for (const deed of DEEDS.filter(({ where }) => where?.(forge) ?? true)) {
    t.test(`${forge.name}: ${deed.action}`, async (t) => {
      const standIn = standIns.get(forge)!
      const client = await installation.client(`${forge.name} ${deed.action}`)
      const options = { base_url: forge.baseUrl(standIn), token: TOKEN }
      const connection = await connect(installation.claimcheck, client.workspaceId, forge.provider, options)
      const { hintAddresses } = installation.claimcheck
      const { url, secret } = await hintAddresses.give(connection.id, client.workspaceId, byCommand())

      /** Waits until a deed that the claim foresees, and measures from it to the verdict. */
      async function measure(isTold: boolean) {
        const ground = await newGround(forge, client, deed)
        const claim = { action: `codehost.${deed.action}`, target: ground.slug, params: deed.params(ground) }
        const { body } = await client.submit(claim)
        t.match(body, { state: 'queued' })
        await clock.sleep(85_000)
        const from = standIn.requests.length
        let at = 0
        const tell = async () => {
          at = clock.now()
          await deed.act(ground)
          const message = JSON.stringify({ ...deed.said(ground), ...repositoryOf(ground) })
          const headers = { 'content-type': 'application/json', ...proofOf(forge, secret, message) }
          const path = url.slice(url.indexOf('/v1/'))
          if (isTold) await installation.request(path, { method: 'POST', body: message, headers })
        }
        if (isTold)
          await clock.during(async () => {
            await tell()
            await client.decided(body.claim_id, 10_000)
          })
        else await tell()
        const { verdict } = await client.decided(body.claim_id, 60_000)
        const { history } = (await installation.claimcheck.claims.detail(client.workspaceId, body.claim_id))!
        const last = history.at(-1)!
        return {
          verdict,
          ms: last.answeredAt - at,
          requests: standIn.requests.length - from,
          isHinted: last.hinted === true,
        }
      }

      const told = await measure(true)
      const untold = await measure(false)
      t.match(told, { verdict: 'verified', isHinted: true })
      t.match(untold, { verdict: 'verified', isHinted: false })
      t.ok(told.ms < 3000, `${told.ms} ms after the event`)
      t.comment(
        `figures | ${forge.name} | ${deed.action} | ${told.ms} ms, ${told.requests} | ${untold.ms} ms, ${untold.requests}`,
      )
    })
  }
}
