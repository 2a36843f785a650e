/** The page of the plugins: what owners see, that members do not, and what it says of a plugin that runs open or was started again. */
import { chmodSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { destination, installedPlugin, TOKEN } from '../../server/test/plugins/isolation/world.ts'
import { claimsConsole } from '../support/claims-console.ts'
import { connect } from '../support/connect.ts'
import { textOf, Visitor } from '../support/visitor.ts'

t.test('owners see each plugin, where it runs, what it may reach and what it verifies', async (t) => {
  const { owner, workspaceId } = await claimsConsole(t)
  const page = await owner.get(`/console/w/${workspaceId}/plugins`)
  t.equal(page.status, 200)
  const text = textOf(page.html)
  t.match(text, /scripted Runs inside the service: the operator trusts it/)
  t.match(text, /Package \S+ .*Digest sha256:\S+…\S+ Copy Isolation trusted State on this host running, no restarts/)
  t.match(text, 'May ask example.com Gets tokens at no host')
  t.match(text, 'Verifies Outcome test.outcome.reach , version 1')
  t.notMatch(text, 'WITHOUT')
  t.match((await owner.get(`/console/w/${workspaceId}/claims`)).html, `href="/console/w/${workspaceId}/plugins"`)
})

t.test('members neither see the page nor a link to it', async (t) => {
  const { installation, path, workspaceId } = await claimsConsole(t)
  const member = await Visitor.joining(installation.host, workspaceId, 'member', 'Mia')
  t.equal((await member.get(`/console/w/${workspaceId}/plugins`)).status, 403)
  t.notMatch((await member.get(path)).html, `/console/w/${workspaceId}/plugins`)
})

t.test('a plugin that runs open, and whose process ended, is told as that on the page and to monitoring', async (t) => {
  const { folder, use } = installedPlugin(t, 'build/server/test/plugins/isolation/deeds.js')
  chmodSync(folder, 0o755)
  const plugins = [{ use: use, isolation: 'open' as const }]
  const { installation, owner, client, workspaceId, path } = await claimsConsole(t, {
    plugins,
    env: { ALLOW_PRIVATE: '127.0.0.1' },
  })
  const { url } = await destination(t)
  await connect(installation.claimcheck, workspaceId, 'deeds', { base_url: url, token: TOKEN })
  const page = `/console/w/${workspaceId}/plugins`
  const before = await owner.get(page)
  t.match(before.html, /<p class="notice warning">Runs WITHOUT a sandbox/)
  t.match(textOf(before.html), /Package acme-plugin 1\.2\.3 .*Isolation open State on this host running, no restarts/)

  const { body } = await client.submit({ action: 'test.deed.do', params: { deed: 'exits' } })
  const [, restarts] = await until(async () =>
    /running, (\d+) restarts?; it/.exec(textOf((await owner.get(page)).html)),
  )
  t.ok(Number(restarts) >= 1)
  t.match(textOf((await owner.get(page)).html), /it ended last because: \S/)
  const metrics = await (await fetch(`${installation.url}/metrics`)).text()
  t.match(metrics, /claimcheck_plugin_restarts_total\{plugin="deeds"\} [1-9]/)
  t.match(
    textOf((await owner.get(`${path}/${body.claim_id}`)).html),
    /could not read\. The plugin that reads it failed/,
  )

  // The check that a plugin made is told to be its own, in a receipt that holds.
  const decided = await client.submit({ action: 'test.deed.do', client_claim_id: 'other', params: {} })
  const { receipt_id } = await client.decided(decided.body.claim_id)
  const { verifier } = (await installation.request(`/v1/receipts/${receipt_id}`)).body.body.observation
  t.match(verifier, { package: 'acme-plugin', package_version: '1.2.3', code_hash: /^sha256:[A-Za-z0-9_-]{43}$/ })
  const told = (await owner.get(`${path}/${decided.body.claim_id}`)).html
  t.match(textOf(told), `Checked by acme-plugin 1.2.3, ${verifier.code_hash.slice(0, 15)}…`)
  t.match(told, `title="${verifier.code_hash}"`, 'the whole digest on hover')
  t.match(before.html, `title="${verifier.code_hash}"`, 'the page of the plugins has the same digest')
})

async function until<T>(look: () => Promise<T | null>): Promise<T> {
  for (;;) {
    const seen = await look()
    if (seen !== null) return seen
    await setTimeout(50)
  }
}

t.test('monitoring is told of each plugin', async (t) => {
  const { installation } = await claimsConsole(t)
  const metrics = await (await fetch(`${installation.url}/metrics`)).text()
  t.match(metrics, 'claimcheck_plugin_restarts_total{plugin="scripted"} 0\n')
  t.match(metrics, 'claimcheck_plugin_running{plugin="scripted"} 1\n')
})
