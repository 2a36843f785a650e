// Test run: slow
/** Shows that hints blame nobody sooner, later or not at all, and verify nothing that was not there. Threat A1 of `security.md`. */
import { createHmac } from 'node:crypto'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { byCommand } from '@claimcheck/server/base/actor'
import t from 'tap'
import { startGitHub } from '../destinations/forge/github.ts'
import { afterFile } from '../support/after-file.ts'
import { type Client, Installation } from '../support/installation.ts'
import { SkippingClock } from '../support/skipping-clock.ts'
import { query } from '../support/sql.ts'

const CODEHOST = createRequire(join(process.cwd(), 'package.json')).resolve('@claimcheck/plugin-codehost')
const TOKEN = 'token-of-the-reader'
const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS

const clock = new SkippingClock()
const github = await startGitHub({ now: clock.now })
github.addToken({ token: TOKEN })
const installation = await Installation.start({
  plugins: [{ use: CODEHOST, with: { public_base_url: github.url } }],
  env: { ALLOW_PRIVATE: '127.0.0.1' },
  file: { sources: { github: [github.url] } },
  now: clock.now,
})
const stopSkipping = clock.skip(installation.claimcheck)
const { connections, hintAddresses, claims, adjudication } = installation.claimcheck
afterFile(async () => {
  await stopSkipping()
  await installation.examine({ isWhole: false })
  await installation.remove()
  await github.close()
})

/** A workspace that reads GitHub by a token, a repository, and a function that gives a hint of its main branch or a commit. */
async function setUp(name: string) {
  const client = await installation.client(name)
  const options = { base_url: github.url, token: TOKEN }
  const connection = await connections.connect(client.workspaceId, 'github', options, { userId: null, insists: false })
  if (!('id' in connection)) throw new Error('it is not connected')
  const { url, secret } = await hintAddresses.give(connection.id, client.workspaceId, byCommand())
  const repository = await github.createRepository(`${name}/api`, { createdAt: clock.now() - 24 * 60 * MINUTE_MS })
  const date = new Date(clock.now() - 60 * MINUTE_MS)
  const base = await repository.commit({ date })
  await repository.push('main', base, { at: date.getTime() })

  async function hint(times = 1): Promise<void> {
    const body = JSON.stringify({ ref: 'refs/heads/main', repository: { full_name: `${name}/api` } })
    const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
    const headers = { 'content-type': 'application/json', 'x-hub-signature-256': signature }
    for (let i = 0; i < times; i++)
      await installation.request(url.slice(url.indexOf('/v1/')), { method: 'POST', body, headers })
  }
  return { client, repository, base, hint, slug: `${name}/api` }
}

async function looksOf(claimId: string): Promise<number> {
  const [row] = await query(installation.config.databaseUrl, `SELECT looks FROM hints WHERE claim_id = '${claimId}'`)
  return Number(row?.looks ?? 0)
}

/** Gives a hint, and waits for the look that it causes. Where the schedule looks first, there is none. Returns the number of looks on hints so far. */
async function lookOn(claimId: string, give: () => Promise<unknown>): Promise<number> {
  const before = await looksOf(claimId)
  await give()
  for (let tries = 0; tries < 30 && (await looksOf(claimId)) === before; tries++) await setTimeout(20)
  await adjudication.idle()
  return looksOf(claimId)
}

/** Gives hints until the claim is decided, as often as they cause looks. Returns the number of these looks. */
async function hintUntilDecided(client: Client, claimId: string, hint: () => Promise<void>): Promise<number> {
  let looks = 0
  for (let isOpen = true; isOpen; ) {
    await clock.sleep(11 * SECOND_MS)
    await clock.during(async () => {
      isOpen = (await client.get(`/v1/claims/${claimId}`)).body.state !== 'decided'
      if (isOpen) looks = Math.max(looks, await lookOn(claimId, hint))
    })
  }
  return looks
}

async function historyOf({ workspaceId }: Client, claimId: string) {
  return (await claims.detail(workspaceId, claimId))!.history
}

t.test('a lie is blamed at the same moment with a thousand hints and without', async (t) => {
  const liar = await setUp('liar')
  const plain = await setUp('plain')
  const lie = () => ({
    action: 'codehost.commit.push',
    params: { sha: 'f'.repeat(40), branch: 'main' },
    deadline_at: new Date(clock.now() + 11 * MINUTE_MS).toISOString(),
  })
  const [hinted, other] = await clock.during(async () => {
    const both = [
      (await liar.client.submit({ ...lie(), target: liar.slug })).body,
      (await plain.client.submit({ ...lie(), target: plain.slug })).body,
    ] as const
    await liar.hint(200)
    return both
  })
  const looks = await hintUntilDecided(liar.client, hinted.claim_id, liar.hint)
  const [blamed, usual] = [
    await liar.client.decided(hinted.claim_id),
    await plain.client.decided(other.claim_id, 30_000),
  ]
  t.match([blamed.verdict, usual.verdict], ['failed', 'failed'])
  const [ofLiar, ofPlain] = [
    await historyOf(liar.client, hinted.claim_id),
    await historyOf(plain.client, other.claim_id),
  ]
  t.ok(looks >= 20, `${looks} looks on hints`)
  t.notOk(
    ofLiar.some((check) => check.hinted),
    'none of them is recorded',
  )
  t.equal(ofLiar.length, ofPlain.length, 'its own looks are as many')
  const gap =
    ofLiar.at(-1)!.answeredAt -
    Date.parse(blamed.deadline_at) -
    (ofPlain.at(-1)!.answeredAt - Date.parse(usual.deadline_at))
  t.ok(Math.abs(gap) < 3000, `blamed ${gap} ms apart`)
})

t.test('a hint that comes before the replica knows costs a look, and the schedule finds it', async (t) => {
  const { client, repository, base, hint, slug } = await setUp('replica')
  const sha = await repository.commit({ parents: [base] })
  const params = { sha, branch: 'main' }
  const { claim_id } = (await client.submit({ action: 'codehost.commit.push', target: slug, params })).body
  await clock.sleep(25 * SECOND_MS)
  await clock.during(async () => {
    repository.answering.replicaLagMs = 5000
    repository.answering.logLagMs = 5000
    await repository.push('main', sha)
    t.ok((await lookOn(claim_id, hint)) > 0, 'a look on the hint saw the old state')
  })
  t.match(await client.decided(claim_id, 30_000), { verdict: 'verified' })
  const history = await historyOf(client, claim_id)
  t.notOk(history.some(({ hinted }) => hinted))
})

t.test('an outcome that is there only while hints come was there: no more, and no less', async (t) => {
  const { client, repository, base, hint, slug } = await setUp('moment')
  const sha = await repository.commit({ parents: [base] })
  const params = { sha, branch: 'main' }
  const { claim_id } = (await client.submit({ action: 'codehost.commit.push', target: slug, params })).body
  await clock.sleep(60 * SECOND_MS)
  await clock.during(async () => {
    await repository.push('main', sha)
    await lookOn(claim_id, hint)
    await repository.push('main', base, { force: true })
  })
  t.match(await client.decided(claim_id, 30_000), { verdict: 'verified' })
})
