// Test run: end-to-end, slow, alone
/** What the operator reads when a connection does not work: what was asked, why it failed, and what to do. */
import { once } from 'node:events'
import { createServer } from 'node:https'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { Authority } from './destinations/certificates.ts'
import { type Env, runProgram } from './support/command.ts'
import { commandLine } from './support/command-line.ts'

const GITHUB = createRequire(join(process.cwd(), 'x.js')).resolve('@claimcheck/plugin-codehost')

t.test('a server with a certificate of a private authority', async (t) => {
  const authority = new Authority()
  t.teardown(() => authority.remove())
  let isBroken = false
  const server = createServer(authority.issue(['localhost']), (_request, response) => {
    response.writeHead(isBroken ? 500 : 401).end('{}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  t.teardown(() => server.closeAllConnections())
  const address = `localhost:${(server.address() as AddressInfo).port}`
  const cli = await commandLine(t, { plugins: [{ use: GITHUB }] })
  await cli.json('workspace', 'create', 'acme')
  const settings = [`base_url=https://${address}/api/v3`, 'token=secret-token', 'owners=acme']
  const add = ['connection', 'add', 'github', '--workspace', 'acme', '--set', ...settings]
  const trusted = { ALLOW_PRIVATE: address, NODE_EXTRA_CA_CERTS: authority.file }
  // NODE_EXTRA_CA_CERTS counts when a process starts.
  const run = (args: readonly string[], env: Env) =>
    runProgram({ folder: cli.folder, args, env: { PATH: process.env.PATH!, DATABASE_URL: cli.databaseUrl, ...env } })
  const said = async (args: readonly string[], env: Env) => {
    const { code, stderr } = await run(args, env)
    t.equal(code, 1)
    t.notMatch(stderr, 'secret-token')
    return stderr
  }

  t.match(await said(add, {}), /localhost.*ALLOW_PRIVATE names it as host:port/)
  t.match(await said(add, { ALLOW_PRIVATE: address }), /certificate.*set NODE_EXTRA_CA_CERTS/)
  t.match(await said(add, trusted), /answer 401.*refused these credentials/)

  isBroken = true
  t.match(await run([...add, '--untested'], trusted), { code: 0 })
  const [{ id }] = await cli.json('connection', 'list')
  const test = ['connection', 'test', id]
  t.match(await said(test, {}), /localhost.*ALLOW_PRIVATE names it as host:port/)
  t.match(await said(test, { ALLOW_PRIVATE: address }), /certificate.*set NODE_EXTRA_CA_CERTS/)
  t.match(await said(test, trusted), /GET https:\/\/localhost.*answer 500.*Check that the destination is up/)
  isBroken = false
  t.match(await said(test, trusted), /answer 401.*refused these credentials/)
})
