// Test run: end-to-end, slow
/** A destination that becomes another one at the same address: a restored database, another account. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isolationProblem } from '@claimcheck/core/sandbox/problems'
import t, { type Test } from 'tap'
import { installedPlugin } from '../../server/test/plugins/isolation/world.ts'
import { commandLine } from '../support/command-line.ts'
import { connect } from '../support/connect.ts'
import { Installation } from '../support/installation.ts'
import { textOf, Visitor } from '../support/visitor.ts'

const skip = (await isolationProblem()) ?? false

/** A destination that says which database it is of, with the plugin that reads it. */
async function start(t: Test) {
  const state: { database: string | undefined } = { database: 'system-1/timeline-1' }
  const server = createServer(({ url }, response) => {
    const { database } = state
    response.writeHead(url === '/gone' ? 410 : 200, database === undefined ? {} : { 'x-database': database }).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const { use } = installedPlugin(t, 'build/test/plugins/identified.js')
  return { state, plugins: [{ use }], env: { ALLOW_PRIVATE: host }, options: { base_url: `http://${host}` } }
}

t.test('claims are read at the destination that the connection was tried at, and at no other', { skip }, async (t) => {
  const { state, options, ...configured } = await start(t)
  const installation = await Installation.during(t, configured)
  const client = await installation.client('acme')
  const { connections } = installation.claimcheck
  const { id } = await connect({ connections }, client.workspaceId, 'records', options)
  const listed = async () => (await connections.list(client.workspaceId))[0]!
  const submit = async (target: string) => {
    const { body } = await client.submit({ action: 'test.record.keep', target, params: {} })
    return body
  }
  const verdictOf = async (target: string) => (await client.decided((await submit(target)).claim_id)).verdict
  t.match((await client.get('/v1/connections')).body, { connections: [{ identity: 'system-1/timeline-1' }] })
  t.equal(await verdictOf('there'), 'verified')
  t.equal(await verdictOf('gone'), 'failed', 'it is final, and of the known database')

  state.database = 'system-1/timeline-2'
  const claim = await client.decided((await submit('there')).claim_id)
  t.match(
    claim,
    { verdict: 'unverifiable', reason_code: 'claim_ambiguous' },
    'what another database has is no evidence',
  )
  t.equal(await verdictOf('gone'), 'unverifiable', 'and what it has not')

  state.database = undefined
  t.equal(await verdictOf('there'), 'verified', 'an outcome that is there is there')
  const unblamed = await submit('gone')
  await new Promise((done) => setTimeout(done, 5000))
  t.match((await client.get(`/v1/claims/${unblamed.claim_id}`)).body, { state: 'queued' }, 'nobody is blamed')

  state.database = 'system-1/timeline-2'
  t.match(await connections.test(id), { failure: null })
  t.match((await listed()).identity, { text: 'system-1/timeline-2', former: 'system-1/timeline-1' })
  t.equal(await verdictOf('there'), 'verified')
  t.equal(await verdictOf('gone'), 'failed')
  t.match(
    await client.decided(unblamed.claim_id, 60_000),
    { verdict: 'unverifiable', reason_code: 'claim_ambiguous' },
    'a claim that was read before the change blames nobody by what is read after it',
  )
})

t.test('the console and the command line say which destination it is, and which it was', { skip }, async (t) => {
  const { state, options, ...configured } = await start(t)
  const installation = await Installation.during(t, configured)
  const owner = await Visitor.first(installation.host, 'owner')
  const workspaceId = await owner.workspaceId()
  const path = `/console/w/${workspaceId}/connections`
  state.database = undefined
  const { id } = await connect(installation.claimcheck, workspaceId, 'records', options)
  t.match(textOf((await owner.get(path)).html), /Identity unknown: until a test tells it/)
  state.database = 'system-1/timeline-1'
  await owner.post(`${path}/${id}/test`)
  t.match(textOf((await owner.get(path)).html), /Identity system-1\/timeline-1/)

  const { plugins, env } = configured
  const cli = await commandLine(t, { plugins })
  const run = async (...args: string[]) => {
    const { stdout, stderr } = await cli.run(args, env)
    return stdout + stderr
  }
  await run('workspace', 'create', 'acme')
  const set = `base_url=${options.base_url}`
  t.match(await run('connection', 'add', 'records', '--workspace', 'acme', '--set', set), /is system-1\/timeline-1\./)

  state.database = 'system-1/timeline-2'
  await owner.post(`${path}/${id}/test`)
  const page = textOf((await owner.get(path)).html)
  t.match(page, /system-1\/timeline-2\s*: since .* another than before, which was\s+system-1\/timeline-1/s)
  const [before] = await cli.json('connection', 'list')
  t.match(before, { identity: 'system-1/timeline-1' })
  t.match(await run('connection', 'test', before.id), /is system-1\/timeline-2, another than before/)
  const [after] = await cli.json('connection', 'list')
  t.match(after, { identity: 'system-1/timeline-2', former_identity: 'system-1/timeline-1' })
  t.match(await run('connection', 'list'), /another than before, which was system-1\/timeline-1\./)
})
