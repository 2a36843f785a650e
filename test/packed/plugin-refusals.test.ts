// Test run: end-to-end, slow, alone
/** What `claimcheck plugin` refuses, and what is asked and interrupted: packages and configuration are as they were. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { CONFIG, ENV, FIRST, folder, json, npmrc, publish, refused, state, top } from './plugin-world.ts'

t.beforeEach(() => {
  writeFileSync(CONFIG, FIRST)
})

await publish({})
await publish({ name: 'claimcheck-plugin-throws', code: "throw new Error('it is broken')" })
await publish({ name: 'claimcheck-plugin-hangs', code: 'for (;;);' })
await publish({ name: 'not-a-plugin', code: 'export default 1' })
await publish({ name: 'claimcheck-plugin-imitates', plugin: 'c0dehost' })
await publish({ name: 'claimcheck-plugin-twin', plugin: 'twin' })

t.test('what is no plugin, or does not load, is refused, and leaves everything as it was', async (t) => {
  const broken = join(top, 'broken.tgz')
  writeFileSync(broken, 'no archive')
  const rows: readonly (readonly [args: readonly string[], expected: RegExp])[] = [
    [['claimcheck-plugin-nowhere'], /npm failed \(E404\)[\s\S]*no such package. Check its name/],
    [['claimcheck-plugin-acme@9.9.9'], /npm failed \(ETARGET\)[\s\S]*no such version/],
    [['not-a-plugin'], /definePlugin[\s\S]*It is no plugin of Claimcheck/],
    [['claimcheck-plugin-throws'], /it failed as it was loaded: Error: it is broken[\s\S]*Tell its author/],
    [['claimcheck-plugin-hangs'], /claimcheck-plugin-hangs does not load[\s\S]*Tell its author/],
    [['claimcheck-plugin-imitates'], /looks like codehost, of a plugin that comes with the server/],
    [['@claimcheck/plugin-mail-of-nobody'], /Claimcheck is not published/],
    [['@claimcheck/plugin-chain@9.0.0'], /Claimcheck is not published/],
    [[broken], /npm failed[\s\S]*The archive cannot be read: fetch or pack it again/],
  ]
  for (const [args, expected] of rows) await refused(t, ['add', ...args, '--yes'], expected)
  await refused(
    t,
    ['add', 'claimcheck-plugin-acme'],
    /digest +sha256:[\s\S]*built +no provenance[\s\S]*Nothing was done. Add --yes/,
  )
})

t.test('a name that is taken is refused', async (t) => {
  await json('plugin', 'add', 'claimcheck-plugin-acme@1.0.0', '--yes')
  await refused(
    t,
    ['add', 'claimcheck-plugin-twin', '--yes'],
    /already offers the provider acme[\s\S]*remove the other one first/,
  )
  await json('plugin', 'remove', 'claimcheck-plugin-acme')
})

t.test('a configuration that cannot be read or written, and a registry that is away', async (t) => {
  writeFileSync(CONFIG, FIRST.replace('"plugins"', '"plugin"'))
  await refused(t, ['add', 'claimcheck-plugin-acme', '--yes'], /claimcheck\.config\.json: plugin: /)
  writeFileSync(CONFIG, '{ not JSON')
  await refused(t, ['add', 'claimcheck-plugin-acme', '--yes'], /is not JSON/)
  writeFileSync(CONFIG, FIRST)
  appendFileSync(npmrc, 'registry=http://127.0.0.1:9/\n')
  await refused(t, ['add', 'claimcheck-plugin-acme', '--yes'], /The registry of npm was not reached. Try again/)
  writeFileSync(npmrc, readFileSync(npmrc, 'utf8').replace('registry=http://127.0.0.1:9/\n', ''))
})

/** Runs a command at a terminal, and presses keys when it asks. */
async function atTerminal(keys: string, ...args: readonly string[]): Promise<{ code: number; output: string }> {
  const line = [join(folder, 'node_modules/.bin/claimcheck'), ...args].map((arg) => `'${arg}'`).join(' ')
  const child = spawn('script', ['-qefc', line, '/dev/null'], { cwd: folder, env: { ...ENV, TERM: 'dumb' } })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const wasAsked = output.includes('(yes/no)')
    output += text
    if (!wasAsked && output.includes('(yes/no)')) child.stdin.write(keys)
  })
  const [code] = await once(child, 'close')
  return { code, output }
}

t.test('consent is asked at a terminal; no, Ctrl-C and Ctrl-D leave everything as it was', async (t) => {
  const before = state()
  for (const [keys, expected] of [
    ['no\r', 'Nothing was done.'],
    ['\u0003', 'Nothing was done.'],
    ['\u0004', 'Nothing was done.'],
  ] as const) {
    const { code, output } = await atTerminal(keys, 'plugin', 'add', 'claimcheck-plugin-acme@1.0.0')
    t.match(output, /may ask +acme\.invalid/)
    t.match(output, expected, JSON.stringify(keys))
    t.equal(code, 1)
    t.strictSame(state(), before, JSON.stringify(keys))
  }
  t.match(await atTerminal('yes\r', 'plugin', 'add', 'claimcheck-plugin-acme@1.0.0'), { code: 0, output: /Added: / })
  await json('plugin', 'remove', 'claimcheck-plugin-acme')
})

t.test('a signal while npm works leaves everything as it was', async (t) => {
  const before = state()
  const slow = createServer(() => {}).listen(0, '127.0.0.1')
  await once(slow, 'listening')
  t.teardown(() => slow.close() && slow.closeAllConnections())
  const env = { ...ENV, npm_config_registry: `http://127.0.0.1:${(slow.address() as AddressInfo).port}` }
  const args = ['plugin', 'add', 'claimcheck-plugin-acme', '--yes']
  const child = spawn(join(folder, 'node_modules/.bin/claimcheck'), args, { cwd: folder, env })
  await once(slow, 'request')
  child.kill('SIGTERM')
  t.strictSame(await once(child, 'close'), [1, null])
  t.strictSame(state(), before)
})
