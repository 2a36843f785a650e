// Test run: end-to-end, slow
/** A plugin in a sandbox reads a mailbox: the host logs in, and the process never has the password. Threat P8 of `security.md`. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withoutSecretValues } from '@claimcheck/core/hosting'
import { isolationProblem } from '@claimcheck/core/sandbox/problems'
import { createOutbound } from '@claimcheck/server/outbound/outbound'
import { connectedBy } from '@claimcheck/server/plugins/connected'
import { loadPlugins } from '@claimcheck/server/plugins/plugins'
import t, { type Test } from 'tap'
import { guardOf, serveSockets } from '../../support/loopback.ts'
import { installedPlugin } from './world.ts'

const skip = (await isolationProblem()) ?? false
const SECRET = 'maildrop-pass-0123456789'

async function start(t: Test) {
  const seen: string[] = []
  const host = await serveSockets(t, (socket) => {
    socket.write('* OK ready\r\n')
    socket.on('data', (chunk) => {
      const line = String(chunk)
      seen.push(line)
      if (line.includes('CAPABILITY')) socket.write('* CAPABILITY IMAP4rev1\r\n')
      socket.write(`${line.split(' ')[0]} OK ${line.includes('NOOP') ? '7 1000' : ''}\r\n`)
    })
  })
  const port = host.split(':')[1]!
  const source = readFileSync('build/server/test/plugins/isolation/maildrop.js', 'utf8')
  const built = join(t.testdir(), 'maildrop.js')
  writeFileSync(built, source.replace('41_995', port).replace('41995', port))
  const { folder, use } = installedPlugin(t, built)
  const config = { plugins: [{ use, with: {} }], pluginDir: folder, dataDir: join(folder, 'data') }
  const logger = { debug() {}, info() {}, warn() {}, child: () => logger }
  const registry = await loadPlugins(config, { logger: logger as never, now: Date.now })
  const outbound = createOutbound({ allowPrivate: [host] })
  t.teardown(async () => {
    await registry.plugins[0]!.parts.close()
    await outbound.close()
  })
  const { verifier } = registry.verifierFor('test.maildrop.read')!
  const origin = `tcp://${host}`
  const connection = { id: 'conn_1', provider: 'maildrop', options: { base_url: origin, password: SECRET } }

  async function check(target: string) {
    const timer = new AbortController()
    const type = registry.connectionType('maildrop')!
    const { secrets } = withoutSecretValues(type, connection.options)
    const connected = connectedBy(type, connection)
    const requests = outbound.forCheck(guardOf(origin, { timer, reach: verifier.reach, secrets, connected }))
    const now = Date.now()
    const claim = {
      action: 'test.maildrop.read',
      target,
      params: {},
      claimedAt: now,
      deadlineAt: now + 60_000,
      submittedAt: now,
    }
    try {
      const given = {
        claim,
        connection,
        previous: [],
        requests,
        timer,
        tenant: { workspaceId: 'wsp_1', payer: 'wsp_1' },
        origin,
      }
      return { returned: await verifier.check(given), breach: requests.breach()?.message }
    } catch (error) {
      return { returned: (error as Error).name, breach: requests.breach()?.message }
    } finally {
      timer.abort()
    }
  }
  return { check, seen }
}

t.test('a sandboxed plugin reads with a login of the host', { skip }, async (t) => {
  const { check, seen } = await start(t)
  t.match(await check('a NOOP'), { returned: { facts: { told: 'a·OK·7·1000' } }, breach: undefined })
  t.strictSame(seen, ['claimcheck CAPABILITY\r\n', `claimcheck LOGIN "ann" "${SECRET}"\r\n`, 'a NOOP\r\n'])
  seen.length = 0
  const deletion = await check('a DELETE INBOX')
  t.match(deletion.breach, /does not declare the command DELETE of imap/)
  t.match((await check('a NOOP\r\nb DELETE INBOX')).breach, /DELETE/)
  t.notOk(seen.some((line) => /DELETE/.test(line)))
  t.match(await check('odd login'), { returned: { facts: { told: 'Error' } }, breach: undefined })
  t.match((await check('declared login')).breach, /names no credential that the type of the connection declares/)
  t.match(await check('odd query'), { returned: { facts: { told: 'Error' } }, breach: undefined })
  t.match((await check('query')).breach, /no statements/)
})
