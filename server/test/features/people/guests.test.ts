// Test run: slow
/** What invited accounts take of the allowance that they share, each by the attack of a removed guest with two accounts. Threat A8 of `security.md`. */
import { byUser } from '@claimcheck/server/base/actor'
import { createMeters } from '@claimcheck/server/base/meters'
import { limitsSection } from '@claimcheck/server/config/limits'
import { createQuotas } from '@claimcheck/server/features/claims/quotas'
import { createExchanges } from '@claimcheck/server/features/mcp/exchanges'
import type { RouteGroup } from '@claimcheck/server/http/app'
import { COSTS } from '@claimcheck/server/http/costs'
import { createCounters } from '@claimcheck/server/http/counters'
import { credentialOf, payersOf } from '@claimcheck/server/http/credential'
import { createConcurrencyLimit } from '@claimcheck/server/outbound/concurrency-limit'
import { createRateLimitBudgets } from '@claimcheck/server/outbound/rate-limit-budget'
import t, { type Test } from 'tap'
import { KEY, OTHER_KEY, startApp, UNLIMITED } from '../../http/support/server.ts'
import { credentialOf as keyCredential } from '../../http/support/services.ts'
import { NOON, newUser, openFirst, type People } from './people.ts'

const ORIGIN = 'https://api.github.com'
const READ = COSTS.read.tokens
const DAY_MS = 24 * 60 * 60_000

/** Someone who takes of an allowance: an account, and a workspace that it made. */
interface Taker {
  readonly userId: string
  /** Who pays for the person's sessions. */
  readonly payer: string
  readonly workspaceId: string
  /** Who pays for what the workspace uses. */
  readonly workspacePayer: string
}

async function takerOf({ accounts, members }: People, userId: string): Promise<Taker> {
  const [workspace] = await members.workspacesOf(userId)
  const user = (await accounts.list()).find(({ id }) => id === userId)!
  return { userId, payer: user.payer, workspaceId: workspace!.id, workspacePayer: workspace!.payer }
}

/** Ann, a guest that she removed and a second account that this one made, and another guest, each with one workspace. */
async function openGuests(t: Test) {
  const people = await openFirst(t)
  const { accounts, members, userId, workspaceId } = people
  const guest = async (name: string) => {
    const token = await accounts.inviteToken(workspaceId, 'owner', userId)
    const { user } = await accounts.join(token, newUser(name))
    const joined = (await members.list(workspaceId)).find((member) => member.userId === user.id)!
    await members.remove(workspaceId, joined.id, byUser(userId, '::1'))
    await members.createWorkspace(user.id, name, byUser(user.id, '::1'))
    return takerOf(people, user.id)
  }
  const [bob, cyn] = [await guest('bob'), await guest('cyn')]
  const token = await accounts.inviteToken(bob.workspaceId, 'member', bob.userId)
  const { user } = await accounts.join(token, newUser('bot'))
  await members.createWorkspace(user.id, 'bot', byUser(user.id, '::1'))
  const bot = (await members.workspacesOf(user.id)).find(({ payer }) => payer === user.payer)!
  const ofBot = { userId: user.id, payer: user.payer, workspaceId: bot.id, workspacePayer: bot.payer }
  return { people, ann: await takerOf(people, userId), bob, bot: ofBot, cyn }
}

function keyOf(keyId: string, { workspacePayer }: Taker) {
  return keyCredential(keyId, keyId, workspacePayer)
}

const keyNamed = (letter: string) => `svc_sk_${letter.repeat(43)}`

/** Takes until it is refused. Returns how often it was not. */
async function takeAll(take: (index: number) => unknown, most = 1000): Promise<number> {
  for (let taken = 0; taken < most; taken++) {
    try {
      if ((await take(taken)) === false) return taken
    } catch {
      return taken
    }
  }
  return most
}

/** The two guests take all that they get, and then the account that invited them. */
async function inTurn(takers: readonly Taker[], take: (taker: Taker, index: number) => unknown, most?: number) {
  const taken: number[] = []
  for (const taker of takers) taken.push(await takeAll((index) => take(taker, index), most))
  return taken
}

t.test('a removed guest makes no more workspaces than leave some to other guests and to who pays', async (t) => {
  const { people, ann, bob, bot, cyn } = await openGuests(t)
  const make = ({ userId }: Taker, index: number) =>
    people.members.createWorkspace(userId, `${userId} ${index}`, byUser(userId, '::1'))
  // Each has one already, and one of 20 is left for nobody. Two parties have less than their equal part then.
  t.strictSame(await inTurn([bob, bot, cyn, ann], make), [16, 0, 5, 5])
  await t.rejects(make(bob, 100), {
    code: 'conflict',
    message: /all accounts that share one allowance may have at most 20 workspaces: .*user allowance/,
  })
})

t.test('a removed guest invites no more people than leave invitations to others', async (t) => {
  const { people, ann, bob, bot, cyn } = await openGuests(t)
  people.clock.now = NOON + DAY_MS
  const invite = ({ userId, workspaceId }: Taker) => people.accounts.inviteToken(workspaceId, 'member', userId)
  t.strictSame(await inTurn([bob, bot, cyn, ann], invite), [20, 0, 10, 6])
  await t.rejects(invite(bob), { code: 'too_many', message: /at most 20 a day.*user allowance/s })
})

t.test('a removed guest downloads no more files than leave downloads to others', async (t) => {
  const { people, ann, bob, bot, cyn } = await openGuests(t)
  t.strictSame(await inTurn([bob, bot, cyn, ann], (taker) => people.allowances.spendExport(taker)), [200, 0, 100, 66])
  await t.rejects(people.allowances.spendExport(bob), { code: 'too_many', message: /at most 200 a day/ })
})

t.test('a removed guest submits no more claims than leave some to others', async (t) => {
  const { people, ann, bob, bot, cyn } = await openGuests(t)
  const { storage } = people
  const now = () => NOON
  const counters = createCounters({ storage, now })
  const quotas = { claimsPerMinute: 400, waitingClaims: 0 }
  const { refusal } = createQuotas({ storage, counters, config: { quotas }, now, meters: createMeters() })
  const submit = async ({ workspacePayer: payer }: Taker, index: number) =>
    (await refusal({ payer, workspaceId: `ws_${index % 5}` })) === undefined
  t.strictSame(await inTurn([bob, bot, cyn, ann], submit), [400, 0, 200, 133])
})

t.test('a removed guest takes no more MCP places than leave some to others', async (t) => {
  const { ann, bob, bot, cyn } = await openGuests(t)
  const exchanges = createExchanges()
  t.teardown(() => exchanges.endAll())
  const open = ({ workspacePayer: payer }: Taker, index: number) =>
    exchanges.open({ spender: `${payer} ${index % 30}`, workspaceId: `${payer} ${index % 5}`, payer }, async () => true)
  t.strictSame(await inTurn([bob, bot, cyn, ann], open), [128, 0, 64, 42])
})

t.test('a removed guest takes no more slots for checks than leave some to others', async (t) => {
  const { ann, bob, bot, cyn } = await openGuests(t)
  const slots = createConcurrencyLimit(256)
  const take = ({ workspacePayer: payer }: Taker, index: number) => {
    const asker = { payer, destinations: [`at ${index}`] }
    return typeof slots.take(asker, 'looking') === 'function'
  }
  t.strictSame(await inTurn([bob, bot, cyn, ann], take), [96, 0, 20, 4])
})

t.test('a removed guest leaves slots at one destination to others', async (t) => {
  const { ann, bob, bot, cyn } = await openGuests(t)
  const slots = createConcurrencyLimit(256)
  const take = ({ workspacePayer: payer }: Taker) =>
    typeof slots.take({ payer, destinations: ['one'] }, 'looking') === 'function'
  t.strictSame(await inTurn([bob, bot, cyn, ann], take), [60, 0, 8, 1])
})

t.test('a removed guest uses no more of what a destination permits than leaves some to others', async (t) => {
  const { ann, bob, bot, cyn } = await openGuests(t)
  const budgets = createRateLimitBudgets({ now: () => NOON })
  let left = 1000
  const read = ({ workspacePayer: payer }: Taker) => {
    const spender = { payer, connectionId: null, origin: ORIGIN }
    if (!budgets.mayBegin(spender)) return false
    const end = budgets.begin(spender, false)
    const answered = budgets.forCheck(spender, { isDeciding: false, isAgain: false, hasCredentials: false }).count()
    left--
    const reset = String((NOON + 60_000) / 1000)
    const headers = { 'x-ratelimit-limit': '1000', 'x-ratelimit-remaining': String(left), 'x-ratelimit-reset': reset }
    answered(new Headers({ ...headers, date: new Date(NOON).toUTCString() }))
    end()
    return true
  }
  t.strictSame(await inTurn([bob, bot, cyn, ann], read), [376, 0, 94, 31])
})

t.test('a removed guest asks for no more than leaves requests to who pays', async (t) => {
  const { ann, bob, bot, cyn } = await openGuests(t)
  const takers = { [KEY]: bob, [keyNamed('t')]: bot, [keyNamed('c')]: cyn, [OTHER_KEY]: ann }
  const keys = Object.fromEntries(
    Object.entries(takers).map(([key, taker]) => [key, keyOf(`of ${taker.userId}`, taker)]),
  )
  const app = await startApp({ rateLimits: { ...UNLIMITED, account: 40 * READ }, keys })
  t.teardown(app.close)
  const taken: number[] = []
  for (const key of Object.keys(takers))
    taken.push(await takeAll(async () => (await app.ask('/v1/whoami', { key })).status === 200))
  t.strictSame(taken, [40, 0, 20, 13])
  const { headers, text } = await app.ask('/v1/whoami', { key: KEY })
  t.match(headers, { 'ratelimit-remaining': '0', 'ratelimit-policy': `"account";q=${40 * READ};w=60` })
  t.match(text, new RegExp(`at most ${40 * READ} tokens a minute`))
})

t.test('a removed guest takes nothing of others with requests of many messages that are refused', async (t) => {
  const { ann, bob } = await openGuests(t)
  const second = keyNamed('s')
  const keys = { [KEY]: keyOf('key_1', bob), [second]: keyOf('key_3', bob), [OTHER_KEY]: keyOf('key_2', ann) }
  const many: RouteGroup = {
    scope: 'key',
    cost: 'mcp',
    add(app, gate) {
      app.get('/many', async (request, reply) => {
        await gate.takeMore(request, reply, payersOf(credentialOf(request)), 1999 * COSTS.mcp.tokens)
        return 'many'
      })
    },
  }
  const app = await startApp({ rateLimits: limitsSection.defaults.rateLimits, keys, more: [many] })
  t.teardown(app.close)
  for (const key of [KEY, second]) t.equal((await app.ask('/many', { key })).status, 429)
  t.equal((await app.ask('/v1/whoami', { key: OTHER_KEY })).status, 200)
  t.equal((await app.ask('/v1/whoami', { key: KEY })).status, 200, 'nor of its own')
})
