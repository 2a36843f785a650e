// Test run: end-to-end, slow, alone
/** `claimcheck plugin add`, `list`, `update` and `remove` of plugins that load, in an installation of packed packages, with a real npm registry. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t from 'tap'
import {
  CONFIG,
  claimcheck,
  ENV,
  execute,
  FIRST,
  folder,
  json,
  packageOf,
  publish,
  refused,
  state,
  top,
} from './plugin-world.ts'

t.beforeEach(() => {
  writeFileSync(CONFIG, FIRST)
})

await publish({})
await publish({ version: '1.1.0', hosts: ['acme.invalid', 'else.invalid'], profiles: ['1', '2'] })
await publish({ version: '2.0.0', profiles: ['2'] })

t.test('a plugin of the registry is added, listed, updated and removed', async (t) => {
  const installed = state()
  const added = await json('plugin', 'add', 'claimcheck-plugin-acme@1.0.0', '--yes')
  t.match(added, {
    added: {
      name: 'acme',
      package: 'claimcheck-plugin-acme',
      version: '1.0.0',
      code_hash: /^sha256:/,
      isolation: 'isolated',
      hosts: ['acme.invalid'],
      actions: [{ action: 'acme.ticket.close', version: '1' }],
      connections: [{ provider: 'acme' }],
      built_by: null,
      provenance: /^no provenance: 127\.0\.0\.1:\d+ has no attestation of it$/,
    },
  })
  t.equal(readFileSync(CONFIG, 'utf8'), FIRST.replace('" }\n', '" },\n    { "use": "claimcheck-plugin-acme" }\n'))
  t.equal(
    JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).dependencies['claimcheck-plugin-acme'],
    '1.0.0',
  )
  t.notOk(existsSync(join(top, 'RAN')), 'no script of the package ran')
  t.match(await claimcheck('--version'), { code: 0, stdout: /^0\./ }, 'and none of its programs replaced one')

  const { plugins, not_loaded } = await json('plugin', 'list')
  t.match(plugins, [
    { package: '@claimcheck/plugin-http', isolation: 'trusted', claims_waiting: 0 },
    { package: 'claimcheck-plugin-acme', code_hash: added.added.code_hash, claims_waiting: 0, connections_in_use: 0 },
  ])
  t.ok(not_loaded.some((one: { package: string }) => one.package === '@claimcheck/plugin-chain'))
  t.match(
    (await claimcheck('plugin', 'list')).stdout,
    /claimcheck-plugin-acme +1\.0\.0 +isolated +acme\.ticket\.close 1/,
  )
  await refused(t, ['add', 'claimcheck-plugin-acme', '--yes'], /names claimcheck-plugin-acme already.*plugin update/)
  await refused(
    t,
    ['update', 'claimcheck-plugin-acme@1.1.0'],
    /NEW {3}may ask else\.invalid[\s\S]*Add --yes to confirm/,
  )

  const updated = await claimcheck('plugin', 'update', 'claimcheck-plugin-acme@1.1.0', '--yes')
  t.match(updated.stdout, /NEW {3}may ask else\.invalid\nNEW {3}verifies acme\.ticket\.close, version 2/)
  t.match(updated.stdout, /Updated: claimcheck-plugin-acme 1\.1\.0 is installed\./)
  t.match(await json('plugin', 'update', 'claimcheck-plugin-acme@1.1.0', '--yes'), { updated: false })
  await refused(t, ['update', '@claimcheck/plugin-http', '--yes'], /comes with the server/)
  await refused(
    t,
    ['update', 'claimcheck-plugin-unknown', '--yes'],
    /names no plugin claimcheck-plugin-unknown.*It names: /,
  )

  t.strictSame(await json('plugin', 'remove', 'claimcheck-plugin-acme'), {
    removed: 'claimcheck-plugin-acme',
    uninstalled: true,
  })
  t.strictSame(
    { ...state(), 'package-lock.json': '', 'node_modules/.package-lock.json': '' },
    { ...installed, 'package-lock.json': '', 'node_modules/.package-lock.json': '' },
  )
})

t.test('a package of the shelf needs its line alone', async (t) => {
  const before = state()
  await json('plugin', 'add', '@claimcheck/plugin-chain', '--yes')
  t.match(JSON.parse(readFileSync(CONFIG, 'utf8')).plugins.at(-1), { use: '@claimcheck/plugin-chain' })
  t.strictSame(await json('plugin', 'remove', '@claimcheck/plugin-chain'), {
    removed: '@claimcheck/plugin-chain',
    uninstalled: false,
  })
  t.strictSame(state(), before)
})

t.test('an archive and a folder are added, and updated by another one alone', async (t) => {
  const root = packageOf({})
  const { stdout } = await execute('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', top, root])
  const archive = join(top, JSON.parse(stdout)[0].filename)
  t.match(await json('plugin', 'add', archive, '--yes'), { added: { provenance: /it comes from a file/ } })
  await refused(
    t,
    ['update', 'claimcheck-plugin-acme', '--yes'],
    /did not come from a registry[\s\S]*name an archive or a folder/,
  )
  const next = packageOf({ version: '1.0.1', hosts: [] })
  t.match(await json('plugin', 'update', next, '--yes'), {
    updated: true,
    from: '1.0.0',
    gained: [],
    lost: ['may ask acme.invalid'],
  })
  t.ok(existsSync(join(folder, 'claimcheck-plugin-acme-1.0.1.tgz')), 'the packed folder stays beside the configuration')
  await refused(t, ['update', next, '--yes'], /is there already: name that archive, or raise the version/)
  await json('plugin', 'remove', 'claimcheck-plugin-acme')
  rmSync(join(folder, 'claimcheck-plugin-acme-1.0.1.tgz'))
  t.notOk(existsSync(join(top, 'RAN')))
})

t.test('claims that wait, and connections, keep their plugin', async (t) => {
  await json('plugin', 'add', 'claimcheck-plugin-acme@1.0.0', '--yes')
  const service = spawn(join(folder, 'node_modules/.bin/claimcheck'), ['serve'], { cwd: folder, env: ENV })
  t.teardown(() => service.kill('SIGKILL'))
  let url = ''
  for await (const line of createInterface({ input: service.stdout })) {
    url = /is running on (\S+)/.exec(line)?.[1] ?? url
    if (line.includes('docs')) break
  }
  await json('workspace', 'create', 'acme')
  const { key } = await json('key', 'create', '--workspace', 'acme', '--name', 'agent')
  const claim = { client_claim_id: 'c1', agent_id: 'bot', action: 'acme.ticket.close', target: 'A-1', params: {} }
  const answer = await fetch(`${url}/v1/claims`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...claim, claimed_at: new Date().toISOString() }),
  })
  t.equal(answer.status, 202, await answer.text())
  t.match((await json('plugin', 'list')).plugins, [{}, { claims_waiting: 1, latest_deadline: /^20/ }])

  await refused(
    t,
    ['update', 'claimcheck-plugin-acme@2.0.0', '--yes'],
    /1 waiting claims could not be read any more \(1 of acme\.ticket\.close, version 1\)\. The latest deadline is 20[\s\S]*earlierVersion/,
  )
  await refused(
    t,
    ['remove', 'claimcheck-plugin-acme'],
    /1 waiting claims could not be read[\s\S]*when the last claim is decided/,
  )
  t.match(
    await json('plugin', 'update', 'claimcheck-plugin-acme@1.1.0', '--yes'),
    { updated: true },
    'a version that has the old profile',
  )

  const ended = once(service, 'exit')
  service.kill('SIGTERM')
  await ended
  const token = join(top, 'token')
  writeFileSync(token, 'secret')
  await json('connection', 'add', 'acme', '--workspace', 'acme', '--set', `token=@${token}`, '--untested')
  t.match((await json('plugin', 'list')).plugins, [{}, { connections_in_use: 1 }])
  await refused(t, ['remove', 'claimcheck-plugin-acme'], /1 connections to acme would have no plugin/)
})
