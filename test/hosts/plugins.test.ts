// Test run: end-to-end
/** Hosts of one installation tell each other the digests of their plugins: an update goes from host to host, and one version has one code. */
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { runClaimcheck } from '../support/command.ts'
import { createDatabase } from '../support/database.ts'
import { Installation } from '../support/installation.ts'
import { makePluginPackage } from '../support/plugin-package.ts'

const BUILT = 'build/test/plugins/scripted.js'

/** A host with the plugin, and what starts another one with a plugin of this version and code. */
async function installation(t: Test) {
  const packages = t.testdir()
  const one = await Installation.during(t, {
    inProcess: true,
    database: await createDatabase('postgres'),
    plugins: [{ use: makePluginPackage(packages, BUILT), trusted: true }],
  })
  let count = 1
  async function another(version: string, code: string) {
    const name = `other-${count++}`
    const folder = join(packages, name)
    mkdirSync(folder)
    const root = makePluginPackage(folder, BUILT)
    const json = join(root, 'package.json')
    writeFileSync(json, JSON.stringify({ ...JSON.parse(readFileSync(json, 'utf8')), version }))
    appendFileSync(join(root, 'index.js'), code)
    const config = join(folder, 'claimcheck.config.json')
    writeFileSync(config, JSON.stringify({ plugins: [{ use: root, trusted: true }] }))
    const env = { CONFIG: config, DATA_DIR: join(one.folder, name) }
    return { env, start: () => one.addHost(env) }
  }
  return { one, another }
}

t.test('while hosts are replaced their versions differ, and all of them say so', async (t) => {
  const { one, another } = await installation(t)
  const next = await another('1.3.0', '// next')
  t.match(await one.request('/readyz'), { status: 200 })
  const host = await next.start()
  const differs =
    /the plugin acme-plugin is 1\.2\.3 \(sha256:\w{12}\) on the host \w{8}, and 1\.3\.0 \(sha256:\w{12}\) here: .*replace the rest/
  const { status, body } = await host.request('/readyz')
  t.equal(status, 200)
  t.match(body.warnings.join('\n'), differs)
  const { pluginAgreement } = one.claimcheck
  for (const end = Date.now() + 15_000; pluginAgreement.current().length === 0 && Date.now() < end; )
    await new Promise((resolve) => setTimeout(resolve, 100))
  t.match(pluginAgreement.current(), [{ package: 'acme-plugin', isSameVersion: false, isOwnHost: false }])
  const env = { ...one.env, ...next.env, SECRET_KEY: one.database.env.SECRET_KEY! }
  const doctor = await runClaimcheck(one.folder, ['doctor', '--json'], env)
  t.equal(doctor.code, 0, doctor.stdout)
  t.match(JSON.parse(doctor.stdout).notices.join('\n'), differs)
  t.match((await one.client('acme')).workspaceId, /^ws_/)
})

t.test('a host with other code under the same version does not start', async (t) => {
  const { one, another } = await installation(t)
  await t.rejects((await another('1.2.3', '// other')).start(), {
    code: 'unusable_plugins',
    message: /acme-plugin is 1\.2\.3 \(.*one version has one code: install the same package on all hosts/,
  })
  const same = await another('1.2.3', '')
  await same.start()
  t.strictSame(one.claimcheck.pluginAgreement.current(), [])
})

t.test('a host that was replaced is remembered no more', async (t) => {
  const { one, another } = await installation(t)
  const other = await (await another('1.2.3', '')).start()
  t.equal((await one.claimcheck.storage.shared!.hostPlugins.living()).length, 2)
  await other.stop()
  t.equal((await one.claimcheck.storage.shared!.hostPlugins.living()).length, 1)
  await other.start()
})
