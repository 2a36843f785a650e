/** The page of the plugins: what owners see, that members do not, and what it says of a plugin that runs open or was started again. */

import t from 'tap'
import { claimsConsole } from '../support/claims-console.ts'
import { textOf, Visitor } from '../support/visitor.ts'

t.test('owners see each plugin, where it runs, what it may reach and what it verifies', async (t) => {
  const { owner, workspaceId } = await claimsConsole(t)
  const page = await owner.get(`/console/w/${workspaceId}/plugins`)
  t.equal(page.status, 200)
  const text = textOf(page.html)
  t.match(text, /scripted Runs inside the service: the operator trusts it/)
  t.match(text, /Package \S+ .*Digest sha256:\S+…\S+ Copy Isolation trusted State on this host running, no restarts/)
  t.match(text, 'May ask example.com the address that a workspace connects')
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

t.test('a plugin that runs open, and one whose process ended, are told as that, with markup as text', async (t) => {
  const { installation, owner, workspaceId } = await claimsConsole(t, {})
  const { registry } = installation.claimcheck
  const [plugin] = registry.plugins
  // The list is the installation's own: the page shows what it holds now.
  const shown = registry.plugins as unknown as object[]
  const state = () => ({ status: 'restarting', restarts: 1, lastEnd: 'it used <b>too much</b> memory' })
  shown[0] = { ...plugin!, isolation: 'open', parts: { ...plugin!.parts, state } }
  const page = await owner.get(`/console/w/${workspaceId}/plugins`)
  t.match(page.html, /<p class="notice warning">Runs WITHOUT a sandbox/)
  t.match(textOf(page.html), 'restarting, 1 restart; it ended last because: it used <b>too much</b> memory')
  t.notMatch(page.html, '<b>too')
  const metrics = await (await fetch(`${installation.url}/metrics`)).text()
  t.match(metrics, 'claimcheck_plugin_restarts{plugin="scripted"} 1\n')
  t.match(metrics, 'claimcheck_plugin_running{plugin="scripted"} 0\n')
})

t.test('monitoring is told of each plugin', async (t) => {
  const { installation } = await claimsConsole(t)
  const metrics = await (await fetch(`${installation.url}/metrics`)).text()
  t.match(metrics, 'claimcheck_plugin_restarts{plugin="scripted"} 0\n')
  t.match(metrics, 'claimcheck_plugin_running{plugin="scripted"} 1\n')
})
