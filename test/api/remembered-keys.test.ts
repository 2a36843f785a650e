/** A key is remembered for a second, for new claims alone: what happened to it meanwhile holds at the next request. Threat K1 of `security.md`. */
import { setTimeout } from 'node:timers/promises'
import { isReceipt } from '@claimcheck/core/receipts'
import t from 'tap'
import { afterFile } from '../support/after-file.ts'
import { Client } from '../support/client.ts'
import { connect } from '../support/connect.ts'
import { LOCKED } from '../support/copies.ts'
import { Installation, SCRIPTED } from '../support/installation.ts'

// Its look-ups are counted in what runs.
const installation = await Installation.start({
  inProcess: true,
  file: { rate_limits: { key: 0, receipts: 0, refusals: 0 } },
})
afterFile(() => installation.remove())
const { keys, workspaces, storage } = installation.claimcheck

let workspacesMade = 0

/** A client whose key is remembered, and the id of that. It has submitted one claim, `known`. */
async function rememberedClient(): Promise<{ readonly client: Client; readonly id: string }> {
  const client = await installation.client(`remembered-${++workspacesMade}`)
  const [key] = await keys.list(client.workspaceId)
  if ((await client.submit({ client_claim_id: 'known' })).status !== 202) throw new Error('the first claim was refused')
  return { client, id: key!.id }
}

async function claimsOf({ workspaceId }: Client): Promise<string[]> {
  const { claims } = await installation.claimcheck.claims.list(workspaceId, { limit: 100 })
  return claims.map(({ clientClaimId }) => clientClaimId)
}

t.test('claims that follow each other need one look-up a second', async (t) => {
  const { client } = await rememberedClient()
  const { keys: rows } = storage.read
  const { byHashes } = rows
  let lookUps = 0
  rows.byHashes = (hashes) => {
    lookUps++
    return byHashes(hashes)
  }
  t.teardown(() => {
    rows.byHashes = byHashes
  })
  const startedAt = performance.now()
  for (let claim = 0; claim < 20; claim++) t.match((await client.submit()).body, { created: true, verdict: 'verified' })
  const seconds = Math.ceil((performance.now() - startedAt) / 1000)
  t.ok(lookUps <= seconds, `${lookUps} look-ups in ${seconds} s`)
  for (let times = 0; times < 3; times++) await client.get('/v1/whoami')
  t.ok(lookUps >= 3, 'anything but a claim is looked up each time')
})

interface Ending {
  readonly end: (id: string, client: Client) => Promise<unknown>
  readonly status: number
  readonly detail: RegExp
}

const LOST = 'lost its workspace'

const ENDINGS: Readonly<Record<string, Ending>> = {
  'was revoked': { end: (id) => keys.revoke(id), status: 401, detail: /^invalid or missing API key$/ },
  'has expired': {
    end: async (id) => {
      await keys.change(id, { expiresAt: installation.claimcheck.now() + 150 })
      await setTimeout(160)
    },
    status: 401,
    detail: /^this API key has expired/,
  },
  'is held to another network': {
    end: (id) => keys.change(id, { networks: ['192.0.2.0/24'] }),
    status: 403,
    detail: /not accepted from this network/,
  },
  [LOST]: {
    end: (_id, { workspaceId }) => workspaces.delete(workspaceId),
    status: 401,
    detail: /^invalid or missing API key$/,
  },
}

const REQUESTS: Readonly<Record<string, (client: Client) => ReturnType<Client['submit']>>> = {
  'a new claim': (client) => client.submit({ client_claim_id: 'new' }),
  'a claim that takes long to check': (client) => client.submit({ client_claim_id: 'new', params: { see: 'hang' } }),
  'a claim that is there already': (client) => client.submit({ client_claim_id: 'known' }),
  'a claim that is not valid': (client) => client.submit({ target: 7 }),
  'what is no JSON': (client) => client.post('{'),
  'what is too large': (client) => client.post(`{"a":"${'x'.repeat(1_000_000)}"}`),
  'what is no claim at all': (client) => client.post('a', { 'content-type': 'text/plain' }),
}

for (const [what, { end, status, detail }] of Object.entries(ENDINGS)) {
  t.test(`a key that ${what} is refused at the next request, whatever that is`, async (t) => {
    for (const [name, request] of Object.entries(REQUESTS)) {
      const { client, id } = await rememberedClient()
      await end(id, client)
      const answer = await request(client)
      t.match([answer.status, answer.body.detail], [status, detail], name)
      if (status === 401) t.equal(answer.headers.get('www-authenticate'), 'Bearer', name)
      if (what !== LOST) t.strictSame(await claimsOf(client), ['known'], `${name}: nothing was stored`)
    }
  })
}

t.test('a key that was bound to agents speaks for them alone at the next request', async (t) => {
  const { client, id } = await rememberedClient()
  await keys.change(id, { agentIds: ['release-bot'] })
  t.equal((await client.submit({ client_claim_id: 'other' })).status, 403)
  const { status, body } = await client.submit({ agent_id: 'release-bot' })
  t.match([status, body], [202, { created: true }])
  const { body: receipt } = await installation.request(`/v1/receipts/${body.receipt_id}`)
  t.ok(isReceipt(receipt) && receipt.body.agent.bound)
  t.equal((await claimsOf(client)).length, 2)
})

t.test('an agent that was bound to another key is no longer spoken for at the next request', async (t) => {
  const { client } = await rememberedClient()
  await keys.create(client.workspaceId, 'of the agent', { agentIds: ['agent-1'] })
  t.match(await client.submit({ client_claim_id: 'other' }), {
    status: 403,
    body: { detail: /bound to certain API keys/ },
  })
  t.strictSame(await claimsOf(client), ['known'])
})

t.test('a key that changed and is still good stores its claims, each once', async (t) => {
  const { client, id } = await rememberedClient()
  await keys.change(id, { networks: ['127.0.0.0/8', '::1'], name: 'renamed' })
  for (const name of ['one', 'two']) {
    t.match(await client.submit({ client_claim_id: name }), {
      status: 202,
      body: { created: true, verdict: 'verified' },
    })
    t.match(await client.submit({ client_claim_id: name }), { status: 202, body: { created: false } })
  }
  t.strictSame((await claimsOf(client)).toSorted(), ['known', 'one', 'two'])
})

t.test('of claims that are under way when their key is revoked, those are stored that are answered so', async (t) => {
  const { client, id } = await rememberedClient()
  const submit = (index: number) => client.submit({ client_claim_id: `claim-of-many-${index}` })
  const early = Array.from({ length: 30 }, (_, index) => submit(index))
  await Promise.race(early)
  const revoking = keys.revoke(id)
  const answers = await Promise.all([...early, ...Array.from({ length: 30 }, (_, index) => submit(30 + index))])
  await revoking
  t.equal((await submit(60)).status, 401)
  t.strictSame(
    [...new Set(answers.map(({ status }) => status))].filter((status) => ![202, 401].includes(status)),
    [],
  )
  const stored = answers.flatMap(({ status }, index) => (status === 202 ? [`claim-of-many-${index}`] : []))
  t.strictSame((await claimsOf(client)).toSorted(), ['known', ...stored].toSorted())
})

t.test(
  'of two keys that submit one claim at once, the good one has it and the one that has ended is refused',
  async (t) => {
    const orders: [name: string, isEndedFirst: boolean][] = [
      ['the ended one is first', true],
      ['the good one is first', false],
    ]
    for (const [name, isEndedFirst] of orders) {
      const { client: ended, id } = await rememberedClient()
      const { key } = await keys.create(ended.workspaceId, 'other')
      const good = new Client(installation.host, ended.workspaceId, key)
      await keys.revoke(id)
      // Its check is under way when the other one comes.
      const submit = (client: Client) => client.submit({ client_claim_id: 'same', params: { see: 'hang' } })
      const first = submit(isEndedFirst ? ended : good)
      await setTimeout(50)
      const second = submit(isEndedFirst ? good : ended)
      const [one, other] = await Promise.all(isEndedFirst ? [second, first] : [first, second])
      t.match(one, { status: 202, body: { client_claim_id: 'same' } }, name)
      t.equal(other.status, 401, name)
      t.strictSame((await claimsOf(ended)).toSorted(), ['known', 'same'], name)
    }
  },
)

t.test('a key that has ended is refused as such beyond its limit, too, and counts as refused once', async (t) => {
  const limited = await Installation.start({ file: { rate_limits: { key: 2, receipts: 0, refusals: 2 } } })
  t.teardown(() => limited.remove())
  const client = await limited.client('limited')
  const [key] = await limited.claimcheck.keys.list(client.workspaceId)
  for (let claim = 0; claim < 2; claim++) t.equal((await client.submit()).status, 202)
  t.equal((await client.submit()).status, 429, 'while it is good')
  await limited.claimcheck.keys.revoke(key!.id)
  for (let time = 0; time < 2; time++) {
    const { status, headers } = await client.submit()
    t.equal(status, 401)
    t.equal(headers.get('retry-after'), null)
  }
  t.equal((await client.submit()).status, 429, 'too many refusals')
})

t.test('a key that has ended has nothing read through a connection, and one that is good has', async (t) => {
  const place = await Installation.start({ plugins: [SCRIPTED, LOCKED], inProcess: true })
  t.teardown(() => place.remove())
  const { checkRunner } = place.claimcheck
  const { check } = checkRunner
  let checks = 0
  checkRunner.check = (...args) => {
    checks++
    return check(...args)
  }
  const client = await place.client('cave')
  await connect(place.claimcheck, client.workspaceId, 'cave', { token: 'open sesame' })
  const submit = () => client.submit({ action: 'test.cave.open', target: 'the cave', params: {} })
  for (let claim = 0; claim < 2; claim++) t.match((await submit()).body, { created: true, verdict: 'verified' })
  const [key] = await place.claimcheck.keys.list(client.workspaceId)
  await place.claimcheck.keys.revoke(key!.id)
  t.equal((await submit()).status, 401)
  t.equal(checks, 2)
})
