/** One plain member, with a second account that they made, against others who share the allowance. Threat A8 of `security.md`. */
import { setTimeout } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { Client } from '../support/client.ts'
import { Installation } from '../support/installation.ts'
import { Visitor } from '../support/visitor.ts'

const WORKSPACES = 8
const WAITING = 12
/** Of pages, ten a second. */
const TOKENS = 30_000
const PAGES_AT_ONCE = 120

/** Someone with a workspace of their own, and a key of it. */
interface Person {
  readonly visitor: Visitor
  readonly workspaceId: string
  readonly client: Client
}

/** An owner whose allowance bob, cyn and dan share, and the second account that bob made. */
async function openNeighbours(t: Test, file: object) {
  const { host, claimcheck } = await Installation.during(t, { file })
  const { accounts, keys } = claimcheck

  async function settle(visitor: Visitor, name: string): Promise<Person> {
    await visitor.get('/console/workspaces/new')
    const { path } = await visitor.post('/console/workspaces/new', { name })
    const workspaceId = /\/w\/([^/]+)/.exec(path)![1]!
    const { key } = await keys.create(workspaceId, 'agent')
    return { visitor, workspaceId, client: new Client(host, workspaceId, key) }
  }
  async function invite(by: Visitor, workspaceId: string, name: string): Promise<Person> {
    const inviter = (await accounts.list()).find(({ email }) => email === by.email)!
    const token = await accounts.inviteToken(workspaceId, 'owner', inviter.id)
    return settle(await Visitor.enter(host, `/console/join/${token}`, name), `of ${name}`)
  }

  const owner = await Visitor.first(host)
  const bob = await invite(owner, await owner.workspaceId(), 'bob')
  const bot = await invite(bob.visitor, bob.workspaceId, 'bot')
  const cyn = await invite(owner, await owner.workspaceId(), 'cyn')
  const dan = await invite(owner, await owner.workspaceId(), 'dan')
  return { bob, bot, cyn, dan }
}

t.test('two accounts of one member are as one, and every neighbour has their part', async (t) => {
  const { bob, bot, cyn, dan } = await openNeighbours(t, {
    limits: { workspaces_per_account: WORKSPACES },
    quotas: { waiting_claims: WAITING, claims_per_minute: 0 },
    rate_limits: { account: TOKENS, workspace: 0, key: 0, network: 0 },
  })

  await t.test('workspaces', async (t) => {
    const make = async ({ visitor }: Person, count: number) => {
      const statuses = []
      for (let made = 0; made < count; made++) {
        const { status } = await visitor.post('/console/workspaces/new', {
          name: `${visitor.email.split('@')[0]} ${made}`,
        })
        statuses.push(status)
      }
      return statuses.filter((status) => status === 200).length
    }
    t.equal((await make(bob, 5)) + (await make(bot, 5)), WORKSPACES - 5, 'all that is left')
    // Four share eight: each may have two.
    t.strictSame([await make(cyn, 3), await make(dan, 3)], [1, 1])
    t.equal((await make(bob, 1)) + (await make(bot, 1)), 0)
  })

  await t.test('claims that wait', async (t) => {
    const submit = async ({ client }: Person, count: number) => {
      const statuses = []
      for (let sent = 0; sent < count; sent++)
        statuses.push((await client.submit({ params: { see: 'absent' } })).status)
      return statuses.filter((status) => status === 202).length
    }
    t.strictSame([await submit(bob, WAITING), await submit(bot, WAITING)], [WAITING, 0], 'one workspace may have all')
    t.strictSame([await submit(cyn, WAITING), await submit(dan, WAITING)], [WAITING / 2, WAITING / 3])
    await setTimeout(1100)
    t.equal((await submit(bob, 1)) + (await submit(bot, 1)), 0, 'counted in the database')
  })

  await t.test('pages', async (t) => {
    const path = ({ workspaceId }: Person) => `/console/w/${workspaceId}/claims`
    const end = new AbortController()
    const flood = Array.from({ length: PAGES_AT_ONCE }, (_, index) => {
      const one = index % 2 === 0 ? bob : bot
      return one.visitor.once(path(one), { signal: end.signal }).then(
        (answer) => answer.arrayBuffer(),
        () => undefined,
      )
    })
    await setTimeout(3000)
    for (const neighbour of [cyn, dan]) {
      const begin = performance.now()
      t.equal((await neighbour.visitor.once(path(neighbour))).status, 200)
      const ms = performance.now() - begin
      t.ok(ms < 4000, `${Math.round(ms)} ms`)
    }
    end.abort()
    await Promise.all(flood)
  })
})

t.test('checks of two accounts that hang leave slots to every neighbour', async (t) => {
  // One slot is kept for first checks, and two for those that decide.
  const { bob, bot, cyn, dan } = await openNeighbours(t, { checks: { concurrency: 8, first_answer_ms: 300 } })
  const hang = ({ client }: Person) => client.submit({ params: { see: 'hang' } })
  const hanging = await Promise.all(Array.from({ length: 16 }, (_, index) => hang(index % 2 === 0 ? bob : bot)))
  for (const { status, body } of hanging) t.match({ status, body }, { status: 202, body: { state: 'queued' } })
  for (const { client } of [cyn, dan]) {
    for (let count = 0; count < 3; count++)
      t.match(await client.submit(), { status: 202, body: { state: 'decided', verdict: 'verified' } })
  }
})
